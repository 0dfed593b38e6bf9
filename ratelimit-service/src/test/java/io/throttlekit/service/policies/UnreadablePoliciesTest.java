package io.throttlekit.service.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.source.Problem;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import io.throttlekit.service.server.FixedTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** Pipes and links that appear in a folder of policies. */
@Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD) // opening a pipe blocks
class UnreadablePoliciesTest {
  @TempDir private Path folder;
  private final PolicyStore store = new PolicyStore();
  private PolicyReloader reloader;

  @BeforeEach
  void load() throws Exception {
    write("b.yaml", 1);
    PolicyConfig config =
        new PolicyConfig(
            List.of(folder),
            new RuntimeFolder(folder, "", "", true, true),
            null,
            true,
            Duration.ofSeconds(1),
            true,
            null);
    // so late that the files count as settled
    FixedTime time = new FixedTime(4_000_000_000_000L);
    reloader = new PolicyReloader(config, new LoadOptions(true), store, time, _ -> {});
    assertThat(reloader.poll()).isTrue();
    assertThat(store.status().good()).isTrue();
  }

  @AfterEach
  void close() {
    reloader.close();
  }

  @Test
  void aPipeIsReportedOnceAndTheLastGoodPoliciesRemainUntilItIsGone() throws Exception {
    Path pipe = folder.resolve("a.yaml");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      reloader.poll();
      reloader.poll();
      reloader.poll();
      assertThat(logged.lines())
          .containsExactly(
              "SEVERE " + pipe + ":1:1: error: cannot read: a pipe, socket or device, not a file",
              "SEVERE policies not loaded: 1 error; the last good ones remain active");
    }
    assertThat(limit()).isEqualTo(1);
    write("b.yaml", 2);
    Files.delete(pipe);
    reloader.poll();
    reloader.poll();
    assertThat(store.status().problems()).isEmpty();
    assertThat(limit()).isEqualTo(2);
  }

  @Test
  void aLinkThatLeadsNowhereHidesNoChangeOfTheFilesAfterIt() throws Exception {
    for (int i = 0; i < 50; i++) { // folders are listed in any order
      Files.createSymbolicLink(folder.resolve("nowhere" + i), Path.of("missing"));
      Files.createSymbolicLink(folder.resolve("loop" + i), Path.of("loop" + i));
    }
    reloader.poll();
    reloader.poll();
    assertThat(store.status().problems()).extracting(Problem::toString).isEmpty();
    write("b.yaml", 20);
    reloader.poll();
    reloader.poll();
    assertThat(limit()).isEqualTo(20);
  }

  private void write(String name, int limit) throws Exception {
    String domain = name.substring(0, 1);
    Files.writeString(
        folder.resolve(name),
        """
        domain: %s
        descriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: %d}}]
        """
            .formatted(domain, limit));
  }

  private long limit() {
    return Objects.requireNonNull(store.book()).rules().stream()
        .filter(rule -> rule.domain().equals("b"))
        .findFirst()
        .orElseThrow()
        .limits()
        .getFirst()
        .requestsPerUnit();
  }
}
