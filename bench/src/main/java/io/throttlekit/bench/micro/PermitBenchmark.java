package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import com.netflix.concurrency.limits.limit.FixedLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.VegasLimit;
import io.throttlekit.limiter.AdaptiveLimiter;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * Measures acquiring and recording a permit under a constant concurrency limit: the cost of the
 * limiter for a request. Both read the clock twice. Compare {@link CpuTime}'s figure too, because
 * the wall time of so little work depends on other programs.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PermitBenchmark extends ShortRuns {
  private static final int LIMIT = 100;

  /** The limit cannot move, and an algorithm that keeps no samples costs the least. */
  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.of(
              new VegasLimit(
                  new LimitRange(LIMIT, LIMIT, LIMIT),
                  new VegasLimit.Settings(1, 30, limit -> limit, null),
                  new SplittableRandom(1)))
          .build();

  private final SimpleLimiter<String> netflix =
      SimpleLimiter.newBuilder().limit(FixedLimit.of(LIMIT)).build();

  /** Measures our limiter. */
  @Benchmark
  public void acquireAndRecord() {
    requireNonNull(limiter.tryAcquire()).record();
  }

  /** Measures that of Netflix's concurrency-limits. */
  @Benchmark
  public void netflix() {
    netflix.acquire("").orElseThrow().onSuccess();
  }
}
