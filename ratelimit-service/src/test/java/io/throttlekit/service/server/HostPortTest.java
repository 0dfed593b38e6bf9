package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostPortTest {

  @Test
  void onlyAHostWithColonsIsInBrackets() {
    assertThat(HostPort.text("::1", 80)).isEqualTo("[::1]:80");
    assertThat(HostPort.text("fe80::1%eth0", 80)).isEqualTo("[fe80::1%eth0]:80");
    assertThat(HostPort.text("127.0.0.1", 80)).isEqualTo("127.0.0.1:80");
    assertThat(HostPort.text("localhost", 0)).isEqualTo("localhost:0");
  }
}
