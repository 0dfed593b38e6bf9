package io.throttlekit.rate;

import static io.throttlekit.Overrun.COUNT;
import static io.throttlekit.Overrun.OVERDRAFT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.store.Charge;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The ends of the ranges, and costs that never fit. */
class EdgesTest {
  private static final long NOW = 1_700_000_000_000L;

  static List<RateAlgorithm<?>> ofFive() {
    return List.of(
        new FixedWindow(5, 1000),
        new SlidingWindow(5, 1000),
        new SlidingLog(5, 1000),
        new Gcra(5, 1000),
        new TokenBucket(5, 1000));
  }

  static List<RateAlgorithm<?>> ofNone() {
    return List.of(
        new FixedWindow(0, 1000),
        new SlidingWindow(0, 1000),
        new SlidingLog(0, 1000),
        new Gcra(0, 1000),
        new TokenBucket(0, 1000));
  }

  static List<RateAlgorithm<?>> largest() {
    return List.of(
        new FixedWindow(Cost.MAX, 1),
        new FixedWindow(Cost.MAX, Cost.MAX),
        new SlidingWindow(Cost.MAX, 1, 1),
        new SlidingWindow(1, Cost.MAX, 1),
        new SlidingLog(SlidingLog.MAX_LIMIT, Cost.MAX),
        new Gcra(Cost.MAX, 1, Cost.MAX),
        new Gcra(1, Cost.MAX, 1),
        new Gcra(Cost.MAX, 1000, 1),
        new TokenBucket(Cost.MAX, 1, Cost.MAX),
        new TokenBucket(1, Cost.MAX, 1),
        new TokenBucket(Cost.MAX, 1000, 1));
  }

  @ParameterizedTest
  @MethodSource("ofFive")
  void aCostBeyondTheLimitNeverFits(RateAlgorithm<?> algorithm) {
    var counter = new History<>(algorithm);
    assertThat(counter.charge(NOW, 6).neverFits()).isTrue();
    assertThat(counter.charge(NOW, Cost.MAX).neverFits()).isTrue();
    assertThat(counter.charge(NOW, 5).admitted()).isTrue();
    assertThat(counter.charge(NOW, 6).neverFits()).isTrue();
    assertThat(counter.charge(NOW, 5).neverFits()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("ofNone")
  void aLimitOfZeroAdmitsNothing(RateAlgorithm<?> algorithm) {
    var counter = new History<>(algorithm);
    assertThat(counter.charge(NOW, 1).neverFits()).isTrue();
    assertThat(counter.peek(NOW).neverFits()).isTrue();
    assertThat(counter.refund(NOW, 5)).matches(d -> d.admitted() && d.remaining() == 0);
    assertThat(counter.charge(NOW + 1, 1).neverFits()).isTrue();
    assertThat(counter.charge(NOW + 1, 1, OVERDRAFT).neverFits()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("ofFive")
  void aPeekConsumesNothingAndReportsWhetherOneFits(RateAlgorithm<?> algorithm) {
    var counter = new History<>(algorithm);
    for (int i = 0; i < 20; i++) {
      assertThat(counter.peek(NOW)).matches(d -> d.admitted() && d.remaining() == 5);
    }
    assertThat(counter.state()).isNull();
    counter.charge(NOW, 5);
    Decision refused = counter.peek(NOW);
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.retryAfterMillis()).isEqualTo(counter.charge(NOW, 1).retryAfterMillis());
  }

  @ParameterizedTest
  @MethodSource("ofFive")
  void aPeekOfACountingChargeIsRefusedOnlyBeyondTheLimit(RateAlgorithm<?> algorithm) {
    var counter = new History<>(algorithm);
    counter.charge(NOW, 5, COUNT);
    assertThat(counter.charge(NOW, 0, COUNT).admitted()).isTrue();
    assertThat(counter.charge(NOW, 0, OVERDRAFT).admitted()).isFalse();
    assertThat(counter.charge(NOW, 1, COUNT).admitted()).isFalse();
    Decision beyond = counter.charge(NOW, 0, COUNT);
    assertThat(beyond.admitted()).isFalse();
    long retry = NOW + beyond.retryAfterMillis();
    assertThat(counter.branch().charge(retry - 1, 0, COUNT).admitted()).isFalse();
    assertThat(counter.branch().charge(retry, 0, COUNT).admitted()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("ofFive")
  void anOverdraftIsChargedCompletelyAndReducedByARefund(RateAlgorithm<?> algorithm) {
    for (Overrun overrun : List.of(OVERDRAFT, COUNT)) {
      var counter = new History<>(algorithm);
      counter.charge(NOW, 3);
      assertThat(counter.charge(NOW, 4, overrun))
          .matches(d -> !d.admitted() && d.remaining() == 2 - 4);
      assertThat(counter.refund(NOW, 2).remaining()).isZero();
      assertThat(counter.refund(NOW, 3).remaining()).isEqualTo(3);
      assertThat(counter.refund(NOW, Cost.MAX).remaining()).isEqualTo(5);
      assertThat(counter.charge(NOW, 6).admitted()).isFalse();
      assertThat(counter.charge(NOW, 5).admitted()).isTrue();
      assertThat(counter.charge(NOW, 1).admitted()).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("ofFive")
  void aClockStepBackNeverAdmitsTwice(RateAlgorithm<?> algorithm) {
    var counter = new History<>(algorithm);
    assertThat(counter.charge(NOW, 5).admitted()).isTrue();
    for (long back : new long[] {1, 999, 1000, 1001, 86_400_000, NOW}) {
      assertThat(counter.charge(NOW - back, 1).admitted()).as("back %s", back).isFalse();
      assertThat(counter.charge(NOW, 1).admitted()).as("after %s", back).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("ofFive")
  void aRefundAfterAClockStepIsBoundedByTheCharges(RateAlgorithm<?> algorithm) {
    var counter = new History<>(algorithm);
    counter.charge(NOW, 5);
    counter.refund(NOW - 10_000, Cost.MAX);
    assertThat(counter.charge(NOW, 5).admitted()).isTrue();
    assertThat(counter.charge(NOW, 1).admitted()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("largest")
  void saturatesInsteadOfOverflowing(RateAlgorithm<?> algorithm) {
    var counter = new History<>(algorithm);
    assertThat(counter.charge(NOW, algorithm.limit()).remaining()).isZero();
    for (int i = 0; i < 3000; i++) {
      Decision decision = counter.charge(NOW + i % 2, Cost.MAX, OVERDRAFT);
      assertThat(decision.remaining()).isBetween(-Cost.MAX, algorithm.limit());
      assertThat(decision.resetAfterMillis()).isNotNegative();
      assertThat(decision.admitted() || decision.retryAfterMillis() > 0).isTrue();
    }
    Decision back = counter.charge(NOW - 1_000_000_000_000L, Cost.MAX, OVERDRAFT);
    assertThat(back.resetAfterMillis()).isGreaterThanOrEqualTo(1_000_000_000_000L);
    for (int i = 0; i < 3; i++) {
      assertThat(counter.refund(NOW + 1, Cost.MAX).remaining()).isNotNegative();
    }
    assertThat(counter.refund(NOW + 1, Cost.MAX).remaining()).isEqualTo(algorithm.limit());
  }

  @Test
  void gcraStaysFullWhenTheClockStepsBack() {
    // A rate so large that the debt of a clock step back overflows.
    var counter = new History<>(new Gcra(Cost.MAX / 1000, 1000, 1000));
    counter.charge(NOW, 1000);
    counter.charge(NOW - 60_000, 1, OVERDRAFT);
    assertThat(counter.charge(NOW - 30_000, 1).retryAfterMillis()).isEqualTo(30_001);
    assertThat(counter.charge(NOW - 1, 1).admitted()).isFalse();
  }

  @Test
  void overdraftsOfASlidingLogCountExactlyAndExpireWithTheirWindow() {
    var counter = new History<>(new SlidingLog(3, 10_000));
    for (int i = 0; i < 9_000; i++) {
      counter.charge(NOW + i, 1, OVERDRAFT);
    }
    assertThat(counter.peek(NOW + 9_000).retryAfterMillis()).isEqualTo(9_000 - 3 + 10_000 - 9_000);
    assertThat(counter.branch().charge(NOW + 18_997, 1).admitted()).isTrue();
    assertThat(counter.branch().charge(NOW + 18_996, 1).admitted()).isFalse();
    assertThat(counter.branch().charge(NOW + 18_999, 3).admitted()).isTrue();
    assertThat(counter.refund(NOW + 9_000, 8_999).remaining()).isEqualTo(2);
  }

  @Test
  void branchesOfASlidingLogAreIndependent() {
    var trunk = new History<>(new SlidingLog(100, 1000));
    for (int i = 0; i < 5; i++) {
      trunk.charge(NOW + i, 1);
    }
    var left = trunk.branch();
    var right = trunk.branch();
    for (int i = 5; i < 50; i++) {
      left.charge(NOW + i, 2);
      right.charge(NOW + 2L * i, 1);
    }
    assertThat(trunk.peek(NOW + 100).remaining()).isEqualTo(95);
    assertThat(left.peek(NOW + 100).remaining()).isEqualTo(100 - 5 - 90);
    assertThat(right.peek(NOW + 100).remaining()).isEqualTo(100 - 5 - 45);
    assertThat(left.peek(NOW + 1010).remaining()).isEqualTo(100 - 2 * 39);
    assertThat(right.peek(NOW + 1010).remaining()).isEqualTo(100 - 44);
  }

  @Test
  void rejectsParametersOutOfRangeWithAReason() {
    assertInvalid(() -> new FixedWindow(-1, 1000), "limit");
    assertInvalid(() -> new FixedWindow(Cost.MAX + 1, 1000), "limit");
    assertInvalid(() -> new FixedWindow(1, 0), "window");
    assertInvalid(() -> new FixedWindow(1, Cost.MAX + 1), "window");
    assertInvalid(() -> new SlidingWindow(1, 1000, 0), "buckets");
    assertInvalid(() -> new SlidingWindow(1, 1000, 3), "buckets");
    assertInvalid(() -> new SlidingWindow(1, 10_000, 2000), "buckets");
    assertInvalid(() -> new SlidingWindow(Cost.MAX, 1000, 10), "limit");
    assertInvalid(() -> new SlidingWindow(1, -7), "window");
    assertInvalid(() -> new SlidingLog(SlidingLog.MAX_LIMIT + 1, 1000), "limit");
    assertInvalid(() -> new Gcra(1, 1000, 0), "burst");
    assertInvalid(() -> new Gcra(0, 1000, 1), "burst");
    assertInvalid(() -> new Gcra(1, 1000, Cost.MAX / 1000 + 1), "burst");
    assertInvalid(() -> new TokenBucket(1, 1000, 0), "capacity");
    assertInvalid(() -> new TokenBucket(0, 1000, 1), "capacity");
    assertInvalid(() -> new TokenBucket(1, 1000, Cost.MAX / 1000 + 1), "capacity");
    var key = CounterKey.of("shop");
    var one = new FixedWindow(1, 1);
    assertInvalid(() -> new Charge(key, one, Cost.MAX + 1, COUNT), "cost");
    assertInvalid(() -> new Charge(key, one, -Cost.MAX - 1, COUNT), "cost");
  }

  private static void assertInvalid(Runnable construction, String about) {
    assertThatIllegalArgumentException().isThrownBy(construction::run).withMessageContaining(about);
  }
}
