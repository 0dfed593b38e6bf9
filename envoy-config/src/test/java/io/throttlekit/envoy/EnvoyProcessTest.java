package io.throttlekit.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@RealEnvoy
class EnvoyProcessTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /**
   * A certificate that is only loaded; a handshake needs a real one, which the service's tests
   * have.
   */
  private static final String AUTHORITY =
      """
      -----BEGIN CERTIFICATE-----
      MIIBoTCCAUegAwIBAgIUZs/aX+/HJiFxO9JqxCEd+hkri4IwCgYIKoZIzj0EAwIw
      JTEjMCEGA1UEAwwadGhyb3R0bGVraXQgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIx
      MTQzMzUzWhgPMjEyNjEwMjgxNDMzNTNaMCUxIzAhBgNVBAMMGnRocm90dGxla2l0
      IHRlc3QgYXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+hhYfmi8
      D8Ey4MCkcTzNzcAKDwWBsgGwhe0xAgaBFeslrnWRxMJgzRtflQub+eoKbuAhjiHL
      P0IVh/pSOEYALaNTMFEwHQYDVR0OBBYEFKT3PZLTcyksmg6HNgvQkzrciIqAMB8G
      A1UdIwQYMBaAFKT3PZLTcyksmg6HNgvQkzrciIqAMA8GA1UdEwEB/wQFMAMBAf8w
      CgYIKoZIzj0EAwIDSAAwRQIhAKCt9TRsNbXb8XYpTNJ1uo6HgBl9L6lfVXWkQYnj
      beQMAiAyHiucRbwhrs0aUsc25txhxKdDPPgXsc9tfMU15+8mRw==
      -----END CERTIFICATE-----
      """;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void loadsTheExample(EnvoyExample example) throws IOException {
    example.assumeRunsOn(EnvoyProgram.version());
    String bootstrap = example.bootstrap(wiring());
    assertThat(EnvoyProcess.validate(EnvoyProgram.path(), bootstrap, folder)).isEmpty();
    try (EnvoyProcess envoy = EnvoyProcess.start(EnvoyProgram.path(), bootstrap, folder)) {
      assertThat(envoy.port()).isPositive();
      assertThat(envoy.admin("/clusters")).contains("throttlekit::", "upstream::");
      assertThat(envoy.log()).doesNotContain("[error]", "deprecated");
    }
  }

  @Test
  void reportsErrorsOfABootstrap() throws IOException {
    String wrong = EnvoyExample.GENERIC_KEY.bootstrap(wiring()).replace("domain:", "domian:");
    assertThat(EnvoyProcess.validate(EnvoyProgram.path(), wrong, folder)).contains("domian");
    assertThatThrownBy(() -> EnvoyProcess.start(EnvoyProgram.path(), wrong, folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("domian");
  }

  @Test
  void endsWhenClosed() throws IOException {
    EnvoyProcess envoy =
        EnvoyProcess.start(
            EnvoyProgram.path(), EnvoyExample.GENERIC_KEY.bootstrap(wiring()), folder);
    assertThat(ProcessHandle.of(envoy.pid())).isPresent();
    envoy.close();
    envoy.close();
    assertThat(ProcessHandle.of(envoy.pid()).filter(ProcessHandle::isAlive)).isEmpty();
    assertThatThrownBy(() -> envoy.admin("/ready")).isInstanceOf(IOException.class);
  }

  private EnvoyWiring wiring() throws IOException {
    Path authority = Files.writeString(folder.resolve("ca.pem"), AUTHORITY);
    return EnvoyWiring.anyPorts(1, 1, TIMEOUT).withAuthority(authority);
  }
}
