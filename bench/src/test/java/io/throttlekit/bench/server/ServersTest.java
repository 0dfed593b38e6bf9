package io.throttlekit.bench.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.source.PolicySource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServersTest {

  @ParameterizedTest
  @ValueSource(strings = {"policies.yaml", "leased.yaml", "regions.yaml", "sensors.yaml"})
  void thePoliciesOfBenchmarksAreBesideTheClassAndLoad(String resource) throws IOException {
    var loaded =
        new PolicyLoader(new LoadOptions(true))
            .load(List.of(new PolicySource(resource, text(resource))));
    assertThat(loaded.problems()).isEmpty();
    assertThat(loaded.book()).isNotNull();
  }

  @Test
  void theConfigurationIsBesideTheClass() throws IOException {
    assertThat(text("service.yaml")).isNotBlank();
  }

  private static String text(String resource) throws IOException {
    try (InputStream in = Servers.class.getResourceAsStream(resource)) {
      return new String(requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
