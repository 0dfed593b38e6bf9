package io.throttlekit.bench.micro;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Outcome;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * Measures the store by itself, on known keys; run with {@code -prof gc} for the bytes of a
 * decision.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StoreBenchmark extends ShortRuns {
  private static final int KEYS = 10_000;
  private static final RateAlgorithm<?> HOURLY = new FixedWindow(1_000_000_000, 3_600_000);

  private final InMemoryStore store = new InMemoryStore(TimeSource.system(), 10 * KEYS);
  private final Charge[] charges = new Charge[KEYS];
  private final List<List<Claim>> pairs;

  /** Creates every charge in advance, so that only the store's own work is measured. */
  public StoreBenchmark() {
    for (int i = 0; i < KEYS; i++) {
      charges[i] =
          new Charge(
              CounterKey.of("bench|fixed_window|3600000", "user", "user-" + i),
              HOURLY,
              1,
              Overrun.REFUSE);
    }
    Claim[] claims = new Claim[KEYS];
    for (int i = 0; i < KEYS; i++) {
      claims[i] = new Claim(Claim.Role.ENFORCED, List.of(charges[i]));
    }
    pairs =
        IntStream.range(0, KEYS).mapToObj(i -> List.of(claims[i], claims[(i + 1) % KEYS])).toList();
  }

  /** Measures one charge. */
  @Benchmark
  public Decision acquireOne(KeyOrder order) {
    return store.decide(charges[order.next(KEYS)]);
  }

  /** Measures two claims of one charge each, decided together. */
  @Benchmark
  public Outcome acquireTwo(KeyOrder order) {
    return store.decide(pairs.get(order.next(KEYS)));
  }
}
