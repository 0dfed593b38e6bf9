package io.throttlekit.bench.micro;

import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairDecision;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.fairness.WeightedFairEscrow;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Measures the decisions of a pool with few and with many active tenants of up to 64 weights:
 * within guarantees, beyond them, and with weights that change. As in a service, the key of each
 * request is new. At 100,000 tenants a decision may take ten times as long as at 10.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FairShareBenchmark extends ShortRuns {
  private static final int WEIGHTS = 64;
  private static final long LIMIT = 1L << 50;
  private static final long WINDOW = 1_000_000;

  /** Active tenants. */
  @Param({"10", "100000"})
  public int tenants;

  private final TenantWeight[] weights = new TenantWeight[WEIGHTS];
  private WeightedFairEscrow escrow = new WeightedFairEscrow(FairTerms.of(LIMIT, WINDOW));
  private WeightedFairEscrow full = escrow;
  private long[] costs = {};
  private int turn;

  /** Charges every tenant once, and in a second pool as much as it is guaranteed. */
  @Setup
  public void prepare() {
    for (int i = 0; i < WEIGHTS; i++) {
      weights[i] = TenantWeight.listed(1_000_000 + 700_001L * i);
    }
    costs = new long[tenants];
    escrow = new WeightedFairEscrow(FairTerms.of(LIMIT, WINDOW));
    full = new WeightedFairEscrow(FairTerms.of(LIMIT, WINDOW));
    for (int i = 0; i < tenants; i++) {
      // Amounts that differ, so that the trees have an entry for each tenant.
      costs[i] = 1 + i * 2_654_435_761L % 10_007;
      var _ = escrow.tryAcquire(key(i), weights[i % WEIGHTS], costs[i], 0);
      var _ = full.tryAcquire(key(i), weights[i % WEIGHTS], 0, 0);
    }
    for (int i = 0; i < tenants; i++) {
      long guarantee = full.peek(key(i), weights[i % WEIGHTS], 0).guarantee();
      long kept = i % 2 == 0 ? 0 : costs[i];
      var _ = full.tryAcquire(key(i), weights[i % WEIGHTS], guarantee - kept, 0);
    }
  }

  /** Measures admissions within the guarantee. */
  @Benchmark
  public FairDecision within(KeyOrder order) {
    int i = order.next(tenants);
    return escrow.tryAcquire(key(i), weights[i % WEIGHTS], costs[i], 0);
  }

  /** Measures requests beyond the guarantee, which are refused because of the reserve of others. */
  @Benchmark
  public FairDecision beyond(KeyOrder order) {
    int i = order.next(tenants) & ~1;
    return full.tryAcquire(key(i), weights[i % WEIGHTS], LIMIT >> 20, 0);
  }

  /** Measures the same while another tenant has another weight with every request. */
  @Benchmark
  public FairDecision beyondWithChangedWeights(KeyOrder order) {
    int i = order.next(tenants) & ~1;
    return full.tryAcquire(key(i), weights[(i + turn++) % WEIGHTS], LIMIT >> 20, 0);
  }

  private static CounterKey key(int tenant) {
    return CounterKey.of("bench|fair|1000000", "tenant", Integer.toString(tenant));
  }
}
