package io.throttlekit.rate;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The invariants of every algorithm, over seeded histories and against an oracle. */
@Tag("exploration")
class RateAlgorithmPropertyTest {
  private static final int SEEDS = Boolean.getBoolean("throttlekit.thorough") ? 40 : 20;
  private static final int STEPS = 150;

  static List<RateAlgorithm<?>> algorithms() {
    return RandomHistory.algorithms();
  }

  @ParameterizedTest(name = "{0}, seeds from 0")
  @MethodSource("algorithms")
  void decidesLikeItsOracle(RateAlgorithm<?> algorithm) {
    for (int seed = 0; seed < SEEDS; seed++) {
      RandomHistory history = new RandomHistory(algorithm, seed, new RandomHistory.Reached());
      for (int i = 0; i < STEPS; i++) {
        RandomHistory.Step step = history.next();
        assertThat(step.answered())
            .as("seed %s step %s: %s", seed, i, step)
            .isEqualTo(step.expected());
      }
    }
  }

  @ParameterizedTest(name = "{0}, seeds from 0")
  @MethodSource("algorithms")
  void returnsTheSameStateForRefusalsAndPeeks(RateAlgorithm<?> algorithm) {
    for (int seed = 0; seed < SEEDS; seed++) {
      RandomHistory history = new RandomHistory(algorithm, seed, new RandomHistory.Reached());
      for (int i = 0; i < STEPS; i++) {
        RandomHistory.Step step = history.next();
        boolean refused = step.overrun() == Overrun.REFUSE && !step.answered().admitted();
        if (refused || step.cost() == 0) {
          assertThat(step.kept()).as("seed %s step %s: %s", seed, i, step).isTrue();
        }
      }
    }
  }

  @ParameterizedTest(name = "{0}, seeds from 0")
  @MethodSource("algorithms")
  void admitsARefusedCostExactlyAfterRetryAfter(RateAlgorithm<?> algorithm) {
    for (int seed = 0; seed < SEEDS; seed++) {
      RandomHistory history = new RandomHistory(algorithm, seed, new RandomHistory.Reached());
      for (int i = 0; i < STEPS; i++) {
        RandomHistory.Step step = history.next();
        Decision refusal = step.answered();
        if (!refusal.admitted() && !refusal.neverFits()) {
          long at = step.now() + refusal.retryAfterMillis();
          assertThat(again(history, at - 1, step).admitted()).as("early: %s", step).isFalse();
          assertThat(again(history, at, step).admitted()).as("in time: %s", step).isTrue();
        }
      }
    }
  }

  @ParameterizedTest(name = "{0}, seeds from 0")
  @MethodSource("algorithms")
  void decidesLikeAnUnusedStateFromItsResetTimeOn(RateAlgorithm<?> algorithm) {
    for (int seed = 0; seed < SEEDS; seed++) {
      RandomHistory history = new RandomHistory(algorithm, seed, new RandomHistory.Reached());
      for (int i = 0; i < STEPS; i++) {
        RandomHistory.Step step = history.next();
        long reset = step.now() + step.answered().resetAfterMillis();
        assertThat(history.subject().unusedAt(reset)).isTrue();
        for (long cost : new long[] {0, 1, algorithm.limit(), algorithm.limit() + 1}) {
          Decision used = history.subject().branch().charge(reset, cost);
          assertThat(used).isEqualTo(new History<>(algorithm).charge(reset, cost));
        }
      }
    }
  }

  @ParameterizedTest(name = "{0}, seeds from 0")
  @MethodSource("algorithms")
  void neverAdmitsMoreThanItsBoundUnderAnyClock(RateAlgorithm<?> algorithm) {
    for (int seed = 0; seed < SEEDS; seed++) {
      RandomHistory history = new RandomHistory(algorithm, seed, new RandomHistory.Reached());
      List<Oracle.Entry> admitted = new ArrayList<>();
      for (int i = 0; i < STEPS; i++) {
        RandomHistory.Step step = history.nextRefusing();
        if (step.answered().admitted() && step.cost() > 0) {
          // A clock that stepped back counts as the newest time seen.
          long newest = admitted.isEmpty() ? step.now() : admitted.getLast().at();
          admitted.add(new Oracle.Entry(Math.max(step.now(), newest), step.cost()));
          Bounds.check(algorithm, admitted);
        }
      }
    }
  }

  @ParameterizedTest(name = "{0}, seeds from 0")
  @MethodSource("algorithms")
  void theHistoriesReachTheRelevantCases(RateAlgorithm<?> algorithm) {
    RandomHistory.Reached reached = new RandomHistory.Reached();
    for (int seed = 0; seed < SEEDS; seed++) {
      RandomHistory history = new RandomHistory(algorithm, seed, reached);
      for (int i = 0; i < STEPS; i++) {
        history.next();
      }
    }
    assertThat(reached.refusals).isGreaterThan(SEEDS * 15 / 2);
    assertThat(reached.impossible).isGreaterThan(SEEDS * 5 / 2);
    assertThat(reached.rolls).isGreaterThan(SEEDS * 15 / 2);
    assertThat(reached.stepsBack).isGreaterThan(SEEDS * 5 / 2);
    assertThat(reached.branches).isGreaterThan(SEEDS * 5 / 2);
    if (algorithm.limit() > 0) {
      assertThat(reached.overdrafts).isGreaterThan(SEEDS * 5 / 2);
      assertThat(reached.refunds).isGreaterThan(SEEDS * 5 / 2);
    }
  }

  private static Decision again(RandomHistory history, long at, RandomHistory.Step step) {
    return history.subject().branch().charge(at, step.cost(), step.overrun());
  }
}
