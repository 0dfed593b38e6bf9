package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import io.throttlekit.service.admission.RateLimitRequest;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures a whole decision without the network, from the bytes of a request to those of its
 * response. It shows the cost of rules with concurrency limits for a request that reaches none, and
 * of checking each entry for a permit's.
 *
 * <p>Run with {@code -prof gc} for its bytes, and beside {@link LeasedDecisionBenchmark}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DecisionBenchmark extends ShortRuns {
  private static final int USERS = 10_000;
  private static final String ENDLESS = "rate_limit: {requests_per_unit: 1000000000, unit: hour}";
  private static final String LIMITS =
      """
      - {key: path, value: /checkout, descriptors: [{key: user, LIMIT}]}
      - {key: a, descriptors: [{key: b, descriptors: [{key: c, descriptors: [{key: d,
          descriptors: [{key: e, descriptors: [{key: f, descriptors: [{key: g,
          descriptors: [{key: user, LIMIT}]}]}]}]}]}]}]}
      """
          .replace("LIMIT", ENDLESS);
  private static final String CONCURRENCY_LIMITS =
      """
      - {key: upstream, concurrency: {min: 100, max: 100}}
      - {key: tenant, descriptors: [{key: upstream, concurrency: {min: 100, max: 100}}]}
      """;

  /** Whether the policies have concurrency limits beside rate limits. */
  @Param({"without", "with"})
  public String limits = "without";

  private final byte[][] two = new byte[USERS][];
  private final byte[][] eight = new byte[USERS][];
  private @Nullable Decider decider;

  /** Loads the policies. */
  @Setup
  public void load() {
    for (int i = 0; i < USERS; i++) {
      String user = "user-" + i;
      two[i] = Decider.request("path", "/checkout", "user", user);
      eight[i] =
          Decider.request(
              "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "user", user);
    }
    decider = new Decider(limits.equals("with") ? LIMITS + CONCURRENCY_LIMITS : LIMITS);
  }

  /** Closes what was opened for the policies. */
  @TearDown
  public void close() {
    requireNonNull(decider).close();
  }

  /** Measures a limit of two entries. */
  @Benchmark
  public byte[] twoEntries(KeyOrder order) {
    return answer(two[order.next(USERS)]);
  }

  /** Measures a limit of eight entries. */
  @Benchmark
  public byte[] eightEntries(KeyOrder order) {
    return answer(eight[order.next(USERS)]);
  }

  private byte[] answer(byte[] request) {
    Decider deciding = requireNonNull(decider);
    RateLimitRequest read = deciding.read(request);
    return deciding.write(read, deciding.decide(read));
  }
}
