package io.throttlekit.bench.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@RealEnvoy
class CallSettingsEnvoyTest {
  private static final String ENDPOINT =
      "              - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value:"
          + " 1}}}\n";

  @TempDir private Path folder;

  private static List<CallSettings> rows() {
    return CallSettings.ALL;
  }

  @ParameterizedTest
  @MethodSource("rows")
  void envoyAcceptsEveryRow(CallSettings row) throws IOException {
    String bootstrap =
        FailoverRun.bootstrap(row, Duration.ofMillis(100), ENDPOINT, folder.resolve("upstream"));
    assertThat(EnvoyProcess.validate(EnvoyProgram.path(), bootstrap, folder)).isEmpty();
  }
}
