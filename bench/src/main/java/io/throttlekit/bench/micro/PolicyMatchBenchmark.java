package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.Level;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.descriptors.source.PolicySource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * Measures finding the rule of a descriptor among a thousand; run with {@code -prof gc} for its
 * bytes.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PolicyMatchBenchmark extends ShortRuns {
  private static final int PATHS = 1_000;

  private final Level policies = load();
  private final String[][] known = entriesUnder("/path-");
  private final String[][] unknown = entriesUnder("/elsewhere-");

  /** Measures two entries, the first found by its value and the second by its key. */
  @Benchmark
  public @Nullable Rule matches(KeyOrder order) {
    return policies.match(known[order.next(PATHS)]);
  }

  /** Measures a first entry that finds nothing. */
  @Benchmark
  public @Nullable Rule misses(KeyOrder order) {
    return policies.match(unknown[order.next(PATHS)]);
  }

  private static String[][] entriesUnder(String prefix) {
    String[][] entries = new String[PATHS][];
    for (int i = 0; i < PATHS; i++) {
      entries[i] = new String[] {"path", prefix + i, "user", "user-" + i};
    }
    return entries;
  }

  private static Level load() {
    StringBuilder yaml = new StringBuilder("domain: bench\ndescriptors:\n");
    for (int i = 0; i < PATHS; i++) {
      yaml.append(
          """
            - key: path
              value: /path-%d
              descriptors:
                - {key: user, rate_limit: {requests_per_unit: 100, unit: minute}}
          """
              .formatted(i));
    }
    LoadResult result =
        new PolicyLoader(new LoadOptions(false))
            .load(List.of(new PolicySource("bench.yaml", yaml.toString())));
    PolicyBook book = requireNonNull(result.book(), () -> "not loaded: " + result.problems());
    return requireNonNull(book.domain("bench"), "bench");
  }
}
