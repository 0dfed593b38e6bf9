package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import io.throttlekit.store.Charge;
import io.throttlekit.store.InMemoryStore;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Measures one unit of one of 10,000 keys: every algorithm, Bucket4j and resilience4j as values of
 * the same map, and the algorithms in the service's store.
 *
 * <p>Admitting writes to a limiter and refusing may not, so they are measured separately: with a
 * limit in between, a faster limiter would refuse more. A trial fails when one decision does not
 * match its mix.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class KeyedLimiterBenchmark extends ShortRuns {
  private static final int KEYS = 10_000;

  /** Limiter under test; {@code store:} stands for the service's own store in place of the map. */
  @Param({
    "fixed_window",
    "sliding_window",
    "sliding_log",
    "gcra",
    "token_bucket",
    "bucket4j",
    "resilience4j",
    "store:fixed_window",
    "store:gcra"
  })
  public String limiter = "";

  /** Whether every decision of the run admits, or every one refuses. */
  @Param({"ADMITTED", "REFUSED"})
  public Mix mix = Mix.ADMITTED;

  private final TimeSource time = TimeSource.system();
  private final String[] keys = new String[KEYS];
  private Predicate<String> limiters = key -> false;

  /** Creates a limiter for every key, and exhausts it where all are to refuse. */
  @Setup
  public void createLimiters() {
    for (int i = 0; i < KEYS; i++) {
      keys[i] = "tenant-" + i;
    }
    limiters =
        switch (limiter) {
          case "bucket4j" -> bucket4j();
          case "resilience4j" -> resilience4j();
          default ->
              limiter.startsWith("store:")
                  ? store(algorithm(limiter.substring("store:".length())))
                  : cells(algorithm(limiter));
        };
    if (mix == Mix.REFUSED) {
      for (String key : keys) {
        exhaust(key);
      }
    }
  }

  private void exhaust(String key) {
    for (long unit = 0; limiters.test(key); unit++) {
      if (unit > mix.limit()) {
        throw new IllegalStateException(limiter + " admits more than its limit");
      }
    }
  }

  /** Measures one decision. */
  @Benchmark
  public boolean decide(KeyOrder order, Decisions decisions) {
    return decisions.counted(limiters.test(keys[order.next(KEYS)]));
  }

  private RateAlgorithm<?> algorithm(String name) {
    return switch (name) {
      case "fixed_window" -> new FixedWindow(mix.limit(), mix.windowMillis());
      case "sliding_window" -> new SlidingWindow(mix.limit(), mix.windowMillis());
      case "sliding_log" -> new SlidingLog(mix.limit(), mix.windowMillis());
      case "gcra" -> new Gcra(mix.limit(), mix.windowMillis());
      case "token_bucket" -> new TokenBucket(mix.limit(), mix.windowMillis());
      default -> throw new IllegalArgumentException("no such algorithm: " + name);
    };
  }

  private <S> Predicate<String> cells(RateAlgorithm<S> algorithm) {
    ConcurrentHashMap<String, CasCell<S>> map = new ConcurrentHashMap<>();
    for (String key : keys) {
      map.put(key, new CasCell<>(algorithm));
    }
    return key -> known(map, key).charge(time.wallMillis(), 1).admitted();
  }

  private Predicate<String> bucket4j() {
    ConcurrentHashMap<String, Bucket> map = new ConcurrentHashMap<>();
    for (String key : keys) {
      map.put(
          key,
          Bucket.builder()
              .addLimit(
                  limit -> limit.capacity(mix.limit()).refillGreedy(mix.limit(), mix.window()))
              .build());
    }
    return key -> known(map, key).tryConsume(1);
  }

  private Predicate<String> resilience4j() {
    RateLimiterConfig config =
        RateLimiterConfig.custom()
            .limitForPeriod((int) mix.limit())
            .limitRefreshPeriod(mix.window())
            .timeoutDuration(Duration.ZERO)
            .build();
    ConcurrentHashMap<String, RateLimiter> map = new ConcurrentHashMap<>();
    for (String key : keys) {
      map.put(key, RateLimiter.of(key, config));
    }
    return key -> known(map, key).acquirePermission();
  }

  private static <V> V known(ConcurrentHashMap<String, V> map, String key) {
    return requireNonNull(map.get(key), key);
  }

  private Predicate<String> store(RateAlgorithm<?> algorithm) {
    InMemoryStore store = new InMemoryStore(time, 10 * KEYS);
    String scope = "bench|" + algorithm.id();
    return key ->
        store
            .decide(new Charge(CounterKey.of(scope, "tenant", key), algorithm, 1, Overrun.REFUSE))
            .admitted();
  }
}
