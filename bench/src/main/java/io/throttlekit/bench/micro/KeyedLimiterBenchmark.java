package io.throttlekit.bench.micro;

import static java.util.Objects.requireNonNull;

import io.github.bucket4j.Bucket;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.throttlekit.Charge;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.SlidingWindow;
import io.throttlekit.rate.TokenBucket;
import io.throttlekit.store.InMemoryStore;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One unit of one of 10,000 keys: every algorithm, Bucket4j and resilience4j as values of the same
 * map, and the algorithms in the store that the service uses.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class KeyedLimiterBenchmark {
  private static final int KEYS = 10_000;
  private static final long LIMIT = 100;
  private static final long WINDOW_MILLIS = 1_000;

  /** Who decides; {@code store:} stands for the service's own store in place of the map. */
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

  private final TimeSource time = TimeSource.system();
  private final String[] keys = new String[KEYS];
  private Predicate<String> limiters = key -> false;

  /** Creates a limiter for every key. */
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
  }

  /** One decision. */
  @Benchmark
  public boolean decide(KeyOrder order) {
    return limiters.test(keys[order.next(KEYS)]);
  }

  private static RateAlgorithm<?> algorithm(String name) {
    return switch (name) {
      case "fixed_window" -> new FixedWindow(LIMIT, WINDOW_MILLIS);
      case "sliding_window" -> new SlidingWindow(LIMIT, WINDOW_MILLIS);
      case "sliding_log" -> new SlidingLog(LIMIT, WINDOW_MILLIS);
      case "gcra" -> new Gcra(LIMIT, WINDOW_MILLIS);
      case "token_bucket" -> new TokenBucket(LIMIT, WINDOW_MILLIS);
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
              .addLimit(limit ->
                  limit.capacity(LIMIT).refillGreedy(LIMIT, Duration.ofMillis(WINDOW_MILLIS)))
              .build());
    }
    return key -> known(map, key).tryConsume(1);
  }

  private Predicate<String> resilience4j() {
    RateLimiterConfig config =
        RateLimiterConfig.custom()
            .limitForPeriod((int) LIMIT)
            .limitRefreshPeriod(Duration.ofMillis(WINDOW_MILLIS))
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
            .acquire(new Charge(CounterKey.of(scope, "tenant", key), algorithm, 1, Overrun.REFUSE))
            .admitted();
  }
}
