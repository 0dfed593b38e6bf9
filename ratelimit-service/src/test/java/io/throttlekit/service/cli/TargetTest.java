package io.throttlekit.service.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.envoy.HostPort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class TargetTest {

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:8081, 127.0.0.1:8081",
    "[::1]:1,        [::1]:1",
    "[fe80::1%lo]:1, [fe80::1%lo]:1",
    "unix:80,        unix:80",
    "unix:/run/s,    unix:/run/s",
    "unix:///run/s,  unix:/run/s",
    "unix:run/s,     unix:run/s"
  })
  void isAPortOrAUnixSocket(String text, String shown) {
    assertThat(new Target.Converter().convert(text)).hasToString(shown);
  }

  @Test
  void aHostThatIsCalledUnixStillHasPorts() {
    assertThat(new Target.Converter().convert("unix:80"))
        .isEqualTo(new Target.Tcp(new HostPort("unix", 80)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "localhost", "a:b", "a:65536", "::1:80", "[a]:80", "unix:", "unix", "/run/s"})
  void anythingElseIsRejectedWithBothForms(String text) {
    assertThatThrownBy(() -> new Target.Converter().convert(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("HOST:PORT")
        .hasMessageContaining("unix:/path");
  }
}
