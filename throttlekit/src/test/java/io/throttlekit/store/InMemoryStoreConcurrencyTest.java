package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.enforced;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Exactly the limit is admitted, however many threads send requests. */
class InMemoryStoreConcurrencyTest {
  private static final int THREADS = 4;
  private static final int CHARGES = 3000;
  private static final int LIMIT = 5000;

  private final InMemoryStore store = new InMemoryStore(new ManualTime(0), 1000);

  static List<RateAlgorithm<?>> algorithms() {
    return Charges.hourly(LIMIT);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void admitsExactlyTheLimit(RateAlgorithm<?> algorithm) throws Exception {
    Charge one = charge(algorithm, "a", 1);
    long admitted = inParallel(thread -> countWhile(() -> store.decide(one).admitted()));
    assertThat(admitted).isEqualTo(LIMIT);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void admitsExactlyTheLimitOfSeveralCountersInOppositeOrders(RateAlgorithm<?> algorithm)
      throws Exception {
    Claim a = enforced(charge(algorithm, "a", 1));
    Claim b = enforced(charge(algorithm, "b", 1));
    Claim twice = enforced(charge(algorithm, "b", 1), charge(algorithm, "a", 1));
    List<List<Claim>> requests = List.of(List.of(a, b), List.of(b, a), List.of(twice));
    long admitted =
        inParallel(thread -> countWhile(() -> store.decide(requests.get(thread % 3)).admitted()));
    assertThat(admitted).isEqualTo(LIMIT);
    assertThat(store.decide(charge(algorithm, "a", 0)).remaining()).isZero();
    assertThat(store.decide(charge(algorithm, "b", 0)).remaining()).isZero();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void singleChargesBesideJointOnesAreExact(RateAlgorithm<?> algorithm) throws Exception {
    Charge single = charge(algorithm, "a", 1);
    List<Claim> several =
        List.of(enforced(charge(algorithm, "b", 0)), enforced(charge(algorithm, "a", 1)));
    long admitted =
        inParallel(thread ->
            countWhile(() ->
                thread % 2 == 0
                    ? store.decide(single).admitted()
                    : store.decide(several).admitted()));
    assertThat(admitted).isEqualTo(LIMIT);
  }

  @Test
  void refusesNothingThatFitsWhileAnotherRequestIsRefused() throws Exception {
    FixedWindow wide = new FixedWindow(THREADS * CHARGES, 3_600_000);
    FixedWindow none = new FixedWindow(0, 3_600_000);
    List<Claim> refused = List.of(enforced(charge(wide, "a", 1)), enforced(charge(none, "b", 1)));
    List<Claim> fits = List.of(enforced(charge(wide, "a", 1)), enforced(charge(wide, "b", 0)));
    long admitted =
        inParallel(
            thread -> countWhile(() -> store.decide(thread % 2 == 0 ? refused : fits).admitted()));
    assertThat(admitted).isEqualTo(THREADS / 2 * CHARGES);
  }

  @Test
  void losesNoOverdraftAndNoRefund() throws Exception {
    FixedWindow window = new FixedWindow(1_000_000, 3_600_000);
    Charge over = charge(window, "a", 3, Overrun.OVERDRAFT);
    Charge back = charge(window, "a", -1);
    inParallel(thread ->
        countWhile(() -> {
          store.decide(over);
          return store.decide(back).admitted();
        }));
    assertThat(store.decide(charge(window, "a", 0)).remaining())
        .isEqualTo(1_000_000 - 2L * THREADS * CHARGES);
  }

  /**
   * A counter that is evicted all the time: a thread that looked it up before must not charge it,
   * because that charge would be lost.
   */
  @Test
  void chargesNoEvictedCounter() throws Exception {
    FixedWindow window = new FixedWindow(1_000_000, 3_600_000);
    for (int round = 0; round < 200; round++) {
      Counter counter = new Counter(CounterKey.of("scope"), 1, window, 0);
      CountDownLatch start = new CountDownLatch(1);
      Charge one = charge(window, "a", 1);
      try (var threads = Executors.newFixedThreadPool(2)) {
        Future<Long> charged =
            threads.submit(() -> {
              start.await();
              long admitted = 0;
              while (counter.charge(one, 0) != null) {
                admitted++;
              }
              return admitted;
            });
        Future<Boolean> retired =
            threads.submit(() -> {
              start.await();
              return counter.retire(0);
            });
        start.countDown();
        long admitted = charged.get(240, TimeUnit.SECONDS);
        assertThat(retired.get(240, TimeUnit.SECONDS)).isEqualTo(admitted > 0);
      }
      assertThat(counter.hold()).isFalse();
      assertThat(counter.retire(0)).isFalse();
    }
  }

  @Test
  void everyAdmissionIsOnAResetOrPresentCounter() throws Exception {
    int limit = 10;
    int resets = 300;
    FixedWindow window = new FixedWindow(limit, 3_600_000);
    Charge one = charge(window, "a", 1);
    List<Claim> several = List.of(enforced(one), enforced(charge(window, "b", 0)));
    long admitted =
        inParallel(thread -> {
          if (thread == 0) {
            for (int i = 0; i < resets; i++) {
              store.reset(one.key(), one.algorithm());
            }
            return 0L;
          }
          return countWhile(() ->
              (thread == 1 ? store.decide(several).admitted() : store.decide(one).admitted()));
        });
    assertThat(admitted).isLessThanOrEqualTo((long) limit * (resets + 1));
  }

  private static long countWhile(Callable<Boolean> attempt) throws Exception {
    long admitted = 0;
    for (int i = 0; i < CHARGES; i++) {
      admitted += attempt.call() ? 1 : 0;
    }
    return admitted;
  }

  private interface Body {
    long run(int thread) throws Exception;
  }

  private static long inParallel(Body body) throws Exception {
    CountDownLatch start = new CountDownLatch(1);
    try (var threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<Long>> counts =
          IntStream.range(0, THREADS)
              .mapToObj(thread ->
                  threads.submit(() -> {
                    start.await();
                    return body.run(thread);
                  }))
              .toList();
      start.countDown();
      long sum = 0;
      for (Future<Long> count : counts) {
        sum += count.get(240, TimeUnit.SECONDS);
      }
      return sum;
    }
  }
}
