package io.throttlekit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {

  @ParameterizedTest
  @CsvSource({
    "envoy-gateway:18001, envoy-gateway, 18001",
    "127.0.0.1:0,         127.0.0.1,     0",
    "[::1]:65535,         ::1,           65535",
    "[fe80::1%eth0]:80,   fe80::1%eth0,  80",
    "a_b.c:080,           a_b.c,         80"
  })
  void hasAHostAndAPort(String text, String host, int port) {
    assertThat(HostPort.parse(text)).isEqualTo(new HostPort(host, port));
  }

  @ParameterizedTest
  @ValueSource(strings = {"envoy:80", "10.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80"})
  void isWrittenAsItIsRead(String text) {
    assertThat(HostPort.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a",
        ":80",
        "a:",
        "a:b",
        "a:65536",
        "a:-1",
        "a:123456",
        "a b:1",
        "http://a:1",
        "::1:80",
        "::1",
        "[::1]",
        "[a]:80",
        "[10.0.0.1]:80",
        "[[::1]]:80",
        "a:1\n",
        "ä:1"
      })
  void nothingElseIsOne(String text) {
    assertThat(HostPort.parse(text)).isNull();
  }
}
