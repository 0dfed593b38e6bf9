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
 * Measures a whole decision from leased units in memory without the network, of users that have a
 * limit each, or that share one as tenants. The second one may cost 1.3 times the first.
 *
 * <p>Run with {@code -prof io.throttlekit.bench.micro.CpuTime}, or with {@code -prof gc} for its
 * bytes.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FairDecisionBenchmark extends ShortRuns {
  private static final long LIMIT = 4_000_000_000L;
  private static final String LEASED =
      "requests_per_unit: LIMIT, unit: day, tier: leased, lease: {size: UNITS}";
  private static final String POLICIES =
      """
      - {key: own, descriptors: [{key: user, rate_limit: {LEASED}}]}
      - {key: shared, rate_limit: {LEASED, fair_share: {tenant: user}}}
      """
          .replace("LEASED", LEASED)
          .replace("LIMIT", String.valueOf(LIMIT));

  /** All of them, or only some, have metrics by name. */
  @Param({"10", "10000"})
  int users;

  private byte[][] own = {};
  private byte[][] shared = {};
  private @Nullable Decider decider;

  /** Loads the policies, and leases units for each user. */
  @Setup
  public void lease() {
    // A lease is more than a user sends in all runs, and a tenant's guarantee four leases.
    decider = Decider.withTiers(POLICIES.replace("UNITS", String.valueOf(LIMIT / 4 / users)));
    own = new byte[users][];
    shared = new byte[users][];
    for (int i = 0; i < users; i++) {
      own[i] = Decider.request("own", "orders", "user", "user-" + i);
      shared[i] = Decider.request("shared", "orders", "user", "user-" + i);
      decider.lease(own[i]);
      decider.lease(shared[i]);
    }
  }

  /** Returns the units that this process has leased. */
  @TearDown
  public void close() {
    requireNonNull(decider).close();
  }

  /** Measures users with a limit each. */
  @Benchmark
  public byte[] leased(KeyOrder order) {
    return answer(own[order.next(users)]);
  }

  /** Measures users that share a limit as its tenants. */
  @Benchmark
  public byte[] fair(KeyOrder order) {
    return answer(shared[order.next(users)]);
  }

  private byte[] answer(byte[] request) {
    Decider deciding = requireNonNull(decider);
    RateLimitRequest read = deciding.read(request);
    return deciding.write(read, deciding.decide(read));
  }
}
