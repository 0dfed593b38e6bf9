package io.throttlekit.service.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that shared limits load exactly where there is a coordinator. */
class FederatedPoliciesTest {
  @TempDir private Path folder;

  private final PolicyStore store = new PolicyStore();

  @Test
  void withoutACoordinatorTheyAreRejectedAtTheirLocation() throws IOException {
    Path file = writeGlobal();
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      load(List.of(folder), null, false);
      assertThat(store.book()).isNull();
      assertThat(logged.lines())
          .contains(
              "SEVERE "
                  + file
                  + ":4:58: error: scope: global needs --coordinator and --region (start the"
                  + " service with both, or write scope: region)");
    }
  }

  @Test
  void withoutACoordinatorTheyAreRejectedInARuntimeFolder() throws IOException {
    writeGlobal();
    RuntimeFolder runtime = new RuntimeFolder(folder, "", "config", true, true);
    load(List.of(), runtime, false);
    assertThat(store.book()).isNull();
    load(List.of(), runtime, true);
    assertThat(store.book()).isNotNull();
  }

  @Test
  void withACoordinatorTheyAreAccepted() throws IOException {
    writeGlobal();
    load(List.of(folder), null, true);
    assertThat(store.book()).isNotNull();
  }

  private Path writeGlobal() throws IOException {
    Path config = Files.createDirectories(folder.resolve("config"));
    return Files.writeString(
        config.resolve("a.yaml"),
        """
        domain: a
        descriptors:
          - key: k
            rate_limit: {unit: day, requests_per_unit: 1, scope: global}
        """);
  }

  private void load(List<Path> paths, @Nullable RuntimeFolder runtime, boolean federated) {
    PolicyConfig config =
        new PolicyConfig(paths, runtime, null, true, Duration.ofSeconds(1), true, null);
    try (PolicyReloader reloader =
        new PolicyReloader(
            config,
            PolicyReloader.options(config, federated, true, true),
            store,
            TimeSource.system(),
            _ -> {})) {
      assertThat(reloader.poll()).isTrue();
    }
  }
}
