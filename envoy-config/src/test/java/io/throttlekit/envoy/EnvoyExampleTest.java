package io.throttlekit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EnvoyExampleTest {
  private static final EnvoyWiring WIRING =
      new EnvoyWiring(11, 12, 13, 15, 14, Duration.ofMillis(1500), Path.of("/tmp/authority.pem"));

  @Test
  void everyFileBesideTheExamplesIsOne() throws IOException, URISyntaxException {
    List<String> names =
        Arrays.stream(EnvoyExample.values()).map(e -> e.fileName() + ".yaml").toList();
    assertThat(files("examples")).containsExactlyInAnyOrderElementsOf(names);
    assertThat(files("examples/policies")).containsExactlyInAnyOrderElementsOf(names);
  }

  @ParameterizedTest
  @EnumSource
  void setsEveryPortAndTimeoutOfTheExample(EnvoyExample example) {
    String bootstrap = example.bootstrap(WIRING);
    for (int port = 11; port <= 14; port++) {
      assertThat(bootstrap).containsOnlyOnce("port_value: " + port + "}");
    }
    assertThat(bootstrap.contains("port_value: 15}")).isEqualTo(example.hasSensors());
    assertThat(bootstrap)
        .contains(" timeout: 1.500s", "connect_timeout: 1.500s", "interval: 2s, timeout: 1.500s}")
        .containsPattern("cluster: upstream(, |\\n +)timeout: 0s")
        .doesNotContainPattern("(?<!initial_fetch_)timeout: (?!1\\.500s|0s)")
        .doesNotContainPattern("[ {]cluster: upstream(?!(, |\\n +)timeout: 0s)")
        .doesNotContain("/etc/throttlekit");
  }

  @ParameterizedTest
  @EnumSource
  void namesItsPolicyInTheFirstLines(EnvoyExample example) {
    assertThat(example.bootstrap())
        .startsWith("# ")
        .contains("# The policy: policies/" + example.fileName() + ".yaml");
    assertThat(example.policy())
        .startsWith("# ")
        .contains("\ndomain: " + example.fileName() + "\n");
  }

  @Test
  void onlyRefundsNeedANewerEnvoyThan136() {
    assertThat(EnvoyExample.values())
        .filteredOn(example -> !example.runsOn("1.36.4"))
        .containsExactly(EnvoyExample.COSTS_AND_REFUNDS);
    assertThat(List.of("1.38.0", "v1.38.3", "distroless-v1.40.0", "dev"))
        .allMatch(EnvoyExample.COSTS_AND_REFUNDS::runsOn);
    assertThat(List.of("v1.37.0", "distroless-v1.36.4"))
        .noneMatch(EnvoyExample.COSTS_AND_REFUNDS::runsOn);
  }

  private static List<String> files(String folder) throws IOException, URISyntaxException {
    var url = Objects.requireNonNull(EnvoyExample.class.getResource(folder));
    try (Stream<Path> files = Files.list(Path.of(url.toURI()))) {
      return files.filter(Files::isRegularFile).map(f -> f.getFileName().toString()).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
