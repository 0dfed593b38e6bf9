package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.enforced;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.rate.FixedWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Several threads charge counters that are evicted and expire.
 *
 * <p>The limit is 1, so every admission has a counter of its own, which is still there when the
 * window ends unless the store counts it as evicted.
 */
@Tag("exploration")
class EvictionRaceTest {
  private static final int THREADS = 4;
  private static final int KEYS = 60;
  private static final int MAX_COUNTERS = 6;
  private static final int ROUNDS = 40;
  private static final long MOVES = 4;
  private static final int CHARGES = 1_500;
  private static final int WINDOW = 1_000;

  private final ManualTime time = new ManualTime(0);
  private final InMemoryStore store = new InMemoryStore(time, MAX_COUNTERS);
  private final FixedWindow once = new FixedWindow(1, WINDOW);

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 20_261_121})
  void everyAdmissionIsCountedUntilItsWindowEndsOrIsEvicted(long seed) throws Exception {
    AtomicLong kept = new AtomicLong();
    CyclicBarrier round =
        new CyclicBarrier(
            THREADS,
            () -> {
              kept.addAndGet(store.size());
              time.advance(WINDOW);
            });
    long admitted =
        inParallel(
            seed,
            random -> {
              long own = 0;
              for (int r = 0; r < ROUNDS; r++) {
                for (int i = 0; i < CHARGES; i++) {
                  own += chargeRandomly(random);
                }
                round.await(240, TimeUnit.SECONDS);
              }
              return own;
            });
    assertThat(admitted).isLessThanOrEqualTo(store.forgotten() + kept.get());
    assertThat(kept).hasValueBetween(ROUNDS, (long) ROUNDS * MAX_COUNTERS);
    assertThat(admitted).as("with evictions").isGreaterThan(10L * ROUNDS * KEYS);
  }

  /**
   * When the clock moves, at most every key has a counter that began its window anew, and every
   * thread a charge that began before the window's end and is counted after it.
   */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {2, 20_261_122})
  void theSameHoldsWhileTheClockMovesUnderTheCharges(long seed) throws Exception {
    AtomicLong charges = new AtomicLong();
    long between = (long) THREADS * ROUNDS * CHARGES / MOVES;
    long admitted =
        inParallel(
            seed,
            random -> {
              long own = 0;
              for (int i = 0; i < ROUNDS * CHARGES; i++) {
                own += chargeRandomly(random);
                if (charges.incrementAndGet() % between == 0) {
                  time.advance(WINDOW + random.nextInt(3 * WINDOW));
                }
              }
              return own;
            });
    assertThat(time.wallMillis()).isGreaterThanOrEqualTo(MOVES * WINDOW);
    assertThat(admitted).isLessThanOrEqualTo(store.forgotten() + (MOVES + 1) * (KEYS + THREADS));
    assertThat(admitted).as("with evictions").isGreaterThan(10 * MOVES * KEYS);
  }

  @Test
  void withRoomNothingIsEvictedEarly() throws Exception {
    InMemoryStore roomy = new InMemoryStore(time, 10 * KEYS);
    CyclicBarrier round = new CyclicBarrier(THREADS, () -> time.advance(5 * WINDOW));
    long admitted =
        inParallel(
            3,
            random -> {
              long own = 0;
              for (int r = 0; r < ROUNDS; r++) {
                for (int i = 0; i < 3 * KEYS; i++) {
                  own += roomy.decide(charge(once, "user" + i % KEYS, 1)).admitted() ? 1 : 0;
                }
                round.await(240, TimeUnit.SECONDS);
              }
              return own;
            });
    assertThat(admitted).isEqualTo((long) KEYS * ROUNDS);
    assertThat(roomy.forgotten()).isZero();
    assertThat(roomy.size()).isZero();
  }

  /** Returns the units admitted by one charge, or by two in one request. */
  private int chargeRandomly(RandomGenerator random) {
    Charge first = randomCharge(random);
    if (random.nextInt(4) > 0) {
      return store.decide(first).admitted() ? 1 : 0;
    }
    Charge second = randomCharge(random);
    return store.decide(List.of(enforced(first), enforced(second))).admitted() ? 2 : 0;
  }

  /** Charges a few users in half of all cases, which are worth keeping. */
  private Charge randomCharge(RandomGenerator random) {
    return charge(once, "user" + random.nextInt(random.nextBoolean() ? 4 : KEYS), 1);
  }

  private interface Body {
    long run(RandomGenerator random) throws Exception;
  }

  private static long inParallel(long seed, Body body) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<Long>> counts = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        RandomGenerator random =
            RandomGeneratorFactory.of("L64X128MixRandom").create(seed * THREADS + t);
        counts.add(threads.submit(() -> body.run(random)));
      }
      long sum = 0;
      for (Future<Long> count : counts) {
        sum += count.get(240, TimeUnit.SECONDS);
      }
      return sum;
    }
  }
}
