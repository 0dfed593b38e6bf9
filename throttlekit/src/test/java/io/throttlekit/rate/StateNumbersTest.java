package io.throttlekit.rate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Overrun;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** States that are kept as numbers between charges. */
class StateNumbersTest {
  private static final int SEEDS = 40;
  private static final int STEPS = 150;

  static List<RateAlgorithm<?>> algorithms() {
    return RandomHistory.algorithms();
  }

  @ParameterizedTest(name = "{0}, seeds 0 to 39")
  @MethodSource("algorithms")
  <S> void aStateRestoredFromItsNumbersDecidesAlike(RateAlgorithm<S> algorithm) {
    for (int seed = 0; seed < SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long now = 1_700_000_000_000L;
      S kept = null;
      S made = null;
      for (int step = 0; step < STEPS; step++) {
        now += random.nextLong(algorithm.windowMillis() / 4 + 2) - random.nextInt(2);
        long cost = random.nextLong(algorithm.limit() / 2 + 2);
        Overrun overrun = random.nextInt(9) == 0 ? Overrun.OVERDRAFT : Overrun.REFUSE;
        boolean refund = cost > 0 && random.nextInt(9) == 0;
        Transition<S> expected =
            refund ? algorithm.refund(kept, now, cost) : algorithm.charge(kept, now, cost, overrun);
        Transition<S> actual =
            refund ? algorithm.refund(made, now, cost) : algorithm.charge(made, now, cost, overrun);
        assertThat(actual.decision())
            .as("seed %s step %s", seed, step)
            .isEqualTo(expected.decision());
        kept = expected.state();
        S next = actual.state();
        made = next == null ? null : algorithm.ofNumbers(algorithm.numbers(next));
      }
    }
  }

  @Test
  void aLogHasAtMostItsLimitOfEntriesDespiteOverdrafts() {
    SlidingLog log = new SlidingLog(10, 60_000);
    long[] numbers = log.numbers(overdrawn(log, null, 0));
    for (int ms = 1; ms < 1_000; ms++) {
      numbers = log.numbers(overdrawn(log, log.ofNumbers(numbers), ms));
    }
    assertThat(numbers).hasSizeLessThanOrEqualTo(2 * 13);
    assertThat(Arrays.stream(numbers).max()).hasValue(1_000);
  }

  private static SlidingLog.State overdrawn(
      SlidingLog log, SlidingLog.@Nullable State state, long now) {
    return Objects.requireNonNull(log.charge(state, now, 1, Overrun.OVERDRAFT).state());
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void invalidNumbersAreRejected(RateAlgorithm<?> algorithm) {
    assertThatThrownBy(() -> algorithm.ofNumbers(new long[0]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(algorithm.id());
    assertThatThrownBy(() -> algorithm.ofNumbers(new long[5]))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
