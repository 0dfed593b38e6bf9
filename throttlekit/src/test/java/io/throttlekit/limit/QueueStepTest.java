package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueueStepTest {

  /** At a limit of 40, alpha is 4 and beta 6. */
  @ParameterizedTest
  @CsvSource({
    "40, 40, 34, 40, 40, false", // a queue of 6
    "40, 40, 33, 40, 39, true", // of 7: at least one step
    "40, 40, 20, 40, 36.5, true", // of 20: a quarter of the excess
    "40, 40, 37, 40, 43, false", // of 3, less than alpha
    "40, 40, 40, 40, 46, false", // none
    "40, 40, 40, 19, 40, false", // less than half of the limit was in use
    "20, 40, 40, 40, 46, false", // half of it is applied yet
    "19, 40, 40, 40, 40, false", // less than half of it
    "40, 40, 40, 7, 39, false", // at most 5 times the most in flight, in steps
    "40, 20, 30, 40, 46, false" // the rest of the limit is never applied
  })
  void movesTheLimitTowardsAQueueBetweenAlphaAndBeta(
      double applied,
      double usable,
      double inService,
      int maxInFlight,
      double next,
      boolean decreased) {
    assertThat(QueueStep.of(40, usable, applied, inService, maxInFlight))
        .isEqualTo(new QueueStep(next, decreased));
  }

  @ParameterizedTest
  @CsvSource({"1, 3", "9, 3", "12, 4", "18, 6", "60, 6", "70, 7", "200, 20"})
  void betaIsAThirdFromThreeToSixAndThenATenth(double limit, int beta) {
    assertThat(QueueStep.beta(limit)).isEqualTo(beta);
  }
}
