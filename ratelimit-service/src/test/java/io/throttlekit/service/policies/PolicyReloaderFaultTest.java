package io.throttlekit.service.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.server.FixedTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests policies whose loading throws unexpectedly. */
class PolicyReloaderFaultTest {
  /** Later than the time of any file here, so that files count as settled. */
  private static final long FAR_FUTURE = 4_000_000_000_000L;

  @TempDir private Path folder;

  private final PolicyStore store = new PolicyStore();
  private final List<Boolean> loads = new ArrayList<>();
  private final List<PolicyReloader> reloaders = new ArrayList<>();

  @AfterEach
  void close() {
    reloaders.forEach(PolicyReloader::close);
  }

  @Test
  void aStackOverflowIsReportedAndKeepsTheLastGoodPolicies() throws IOException {
    write(1);
    AtomicInteger overflows = new AtomicInteger();
    PolicyReloader reloader = overflowing(overflows);
    assertThat(reloader.poll()).isTrue();
    write(2);
    overflows.set(1);
    List<String> logged = logged(() -> assertThat(pollTwice(reloader)).isTrue());

    assertThat(loads).containsExactly(true, false);
    assertThat(limit()).isEqualTo(1);
    assertThat(store.status().good()).isFalse();
    assertThat(store.status().lastError()).isEqualTo("unexpected java.lang.StackOverflowError");
    assertThat(logged).hasSize(2);
    assertThat(logged.get(0))
        .startsWith(
            "SEVERE a fault of this program, not of the policies: java.lang.StackOverflowError at "
                + PolicyReloaderFaultTest.class.getName())
        .hasLineCount(1);
    assertThat(logged.get(1))
        .isEqualTo(
            "SEVERE policies not loaded: unexpected java.lang.StackOverflowError;"
                + " the last good ones remain active");
  }

  @Test
  void afterAFaultUnchangedFilesAreNotReloaded() throws IOException {
    Path file = write(1);
    AtomicInteger overflows = new AtomicInteger(1);
    PolicyReloader reloader = overflowing(overflows);
    Files.setLastModifiedTime(file, FileTime.fromMillis(FAR_FUTURE - 1_000)); // not settled
    assertThat(reloader.poll()).isTrue();
    assertThat(reloader.poll()).isFalse();
    assertThat(reloader.poll()).isFalse();
    assertThat(loads).containsExactly(false);

    Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
    assertThat(pollTwice(reloader)).isTrue();
    assertThat(loads).containsExactly(false, true);
    assertThat(store.status().good()).isTrue();
    Files.setLastModifiedTime(file, FileTime.fromMillis(2_000_000));
    assertThat(pollTwice(reloader)).isFalse();
  }

  /** Returns a reloader whose loader overflows the stack a number of times. */
  private PolicyReloader overflowing(AtomicInteger times) {
    PolicyReloader reloader =
        new PolicyReloader(
            new PolicyConfig(List.of(folder), null, null, true, Duration.ofSeconds(1), true, null),
            store,
            new FixedTime(FAR_FUTURE),
            loads::add,
            sources -> {
              if (times.getAndDecrement() > 0) {
                throw new StackOverflowError();
              }
              return new PolicyLoader(new LoadOptions(true)).load(sources);
            },
            null);
    reloaders.add(reloader);
    return reloader;
  }

  /** Returns the log of the action: level and text. */
  private static List<String> logged(Runnable action) {
    Logger logger = Logger.getLogger(PolicyReloader.class.getName());
    List<String> lines = new ArrayList<>();
    Handler handler =
        new StreamHandler() {
          @Override
          public synchronized void publish(LogRecord record) {
            lines.add(
                record.getLevel()
                    + " "
                    + record.getMessage()
                    + (record.getThrown() == null ? "" : "\n" + record.getThrown()));
          }
        };
    logger.addHandler(handler);
    try {
      action.run();
    } finally {
      logger.removeHandler(handler);
    }
    return lines;
  }

  private static boolean pollTwice(PolicyReloader reloader) {
    boolean first = reloader.poll();
    return reloader.poll() || first;
  }

  private Path write(long limit) throws IOException {
    return Files.writeString(
        folder.resolve("a.yaml"),
        "domain: a\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: %d}}]\n"
            .formatted(limit));
  }

  private long limit() {
    return Objects.requireNonNull(store.book())
        .rules()
        .getFirst()
        .limits()
        .getFirst()
        .requestsPerUnit();
  }
}
