package io.throttlekit.bench.micro;

import com.netflix.concurrency.limits.Limit;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LimitAlgorithm;
import io.throttlekit.descriptors.policy.LimitAlgorithms;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.Sample;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Measures the update of a limit algorithm by one sample, for ours and those of Netflix's
 * concurrency-limits.
 *
 * <p>The samples come from a simulated backend of {@value #SERVERS} servers that is as busy as the
 * algorithm allows: with more in flight requests wait for a server, so each algorithm finds its own
 * limit. Two thousand requests end per simulated second, and one in a thousand is dropped.
 * Netflix's algorithms take a lock for each sample, as {@code AdaptiveLimiter} does around ours;
 * {@link PermitBenchmark} includes ours.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class LimitAlgorithmBenchmark extends ShortRuns {
  private static final LimitRange RANGE = new LimitRange(4, 500, 20);
  private static final int SERVERS = 40;
  private static final int DRAWN = 1 << 13; // samples, a power of two so that a mask selects one
  private static final long GAP_NANOS = 500_000; // two thousand requests a second

  /** Limit algorithm under test. */
  @Param({
    "probed_vegas",
    "gradient2",
    "vegas",
    "aimd",
    "failsafe",
    "netflix_gradient2",
    "netflix_vegas"
  })
  public String algorithm = "";

  private final long[] serviceNanos = new long[DRAWN];
  private Learner learner = new Learner() {};
  private int drawn;
  private long nowNanos;

  /** Operations of an algorithm that the benchmark needs. */
  interface Learner {
    /** Returns its concurrency limit. */
    default int limit() {
      return 0;
    }

    /** Updates it by a sample. */
    default void learn(long startNanos, long rttNanos, int inFlight, boolean dropped) {}
  }

  /** Draws service times, the same in every run, and creates a new limit algorithm. */
  @Setup
  public void create() {
    RandomGenerator random = new SplittableRandom(6);
    for (int i = 0; i < DRAWN; i++) {
      serviceNanos[i] = (long) (5_000_000 + 15_000_000 * -Math.log1p(-random.nextDouble()));
    }
    learner = learner(algorithm);
  }

  /** Measures one sample. */
  @Benchmark
  public int learn() {
    int limit = learner.limit();
    drawn = (drawn + 1) & (DRAWN - 1);
    nowNanos += GAP_NANOS;
    // Requests beyond the servers wait for one.
    long rtt = serviceNanos[drawn] * Math.max(SERVERS, limit) / SERVERS;
    learner.learn(nowNanos - rtt, rtt, limit, (drawn & 1_023) == 0);
    return limit;
  }

  private Learner learner(String name) {
    return switch (name) {
      case "netflix_gradient2" ->
          netflix(com.netflix.concurrency.limits.limit.Gradient2Limit.newDefault());
      case "netflix_vegas" -> netflix(com.netflix.concurrency.limits.limit.VegasLimit.newDefault());
      default ->
          ours(
              LimitAlgorithms.of(
                  LimitAlgorithm.valueOf(name.toUpperCase(Locale.ROOT)), RANGE, random()));
    };
  }

  private static RandomGenerator random() {
    return new SplittableRandom(6);
  }

  private Learner ours(ConcurrencyLimit limit) {
    return new Learner() {
      @Override
      public int limit() {
        return limit.limit();
      }

      @Override
      public void learn(long startNanos, long rttNanos, int inFlight, boolean dropped) {
        limit.learn(new Sample(startNanos, rttNanos, nowNanos, inFlight, true, dropped));
      }
    };
  }

  private static Learner netflix(Limit limit) {
    return new Learner() {
      @Override
      public int limit() {
        return limit.getLimit();
      }

      @Override
      public void learn(long startNanos, long rttNanos, int inFlight, boolean dropped) {
        limit.onSample(startNanos, rttNanos, inFlight, dropped);
      }
    };
  }
}
