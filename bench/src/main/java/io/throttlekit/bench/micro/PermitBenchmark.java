package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import com.netflix.concurrency.limits.limit.FixedLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;
import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limiter.AdaptiveLimiter;
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

  private final AdaptiveLimiter limiter =
      AdaptiveLimiter.of(
              new AimdLimit(new LimitRange(LIMIT, LIMIT, LIMIT), AimdLimit.Settings.defaults()))
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
