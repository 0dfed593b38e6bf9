package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LimitTargetTest {
  private static final double USED = 1e6;

  /** Columns: in service, dispersion, limit. */
  @ParameterizedTest
  @CsvSource({
    "100, 1, 136", // 3.5 · 10
    "100, 4, 171", // 3.5 · 20
    "1, 1, 3.2", // no more than 1.2 · 1
    "1, 4, 4.4", // no more than 1.2 · 1 · 2
    "0, 1, 1"
  })
  void theQueueIsAFewDeviationsOfTheArrivals(double inService, double dispersion, double limit) {
    LimitTarget target = new LimitTarget(inService, dispersion, USED);
    assertThat(target.behindQueue()).isEqualTo(limit);
    assertThat(target.at(1)).isCloseTo(limit, within(1e-9));
  }

  /** Columns: in service, dispersion, limit. */
  @ParameterizedTest
  @CsvSource({
    "100, 1, 301", // three times the requests in service
    "100, 4, 356", // 100 + 12.75 · 20
    "1, 1, 14.75", // 1 + 12.75
    "0, 1, 1"
  })
  void withoutAQueueThereIsRoomForABurst(double inService, double dispersion, double limit) {
    assertThat(new LimitTarget(inService, dispersion, USED).at(0)).isEqualTo(limit);
  }

  @Test
  void theRoomEndsBeyondOneAndAHalfTimesThePeak() {
    assertThat(new LimitTarget(100, 1, 150).at(0)).isEqualTo(228);
    assertThat(new LimitTarget(1, 1, 2).at(0)).isEqualTo(6);
  }

  @Test
  void thePeakDoesNotReduceTheLimitBelowTheLimitWithAQueue() {
    LimitTarget target = new LimitTarget(100, 1, 1);
    assertThat(target.at(0)).isEqualTo(136);
    assertThat(target.at(0.5)).isEqualTo(136);
  }

  @Test
  void isInBetweenInProportionToTheEvidence() {
    assertThat(new LimitTarget(100, 1, USED).at(0.25)).isEqualTo(301 - 0.25 * (301 - 136));
  }

  @Test
  void theLeastPeakOfALimitKeepsIt() {
    assertThat(LimitTarget.peakFor(1)).isEqualTo(1);
    assertThat(LimitTarget.peakFor(6)).isEqualTo(2);
    for (int limit = 8; limit < 1_000; limit++) {
      int peak = LimitTarget.peakFor(limit);
      double inService = 0.34 * limit; // whose room is the limit
      assertThat(new LimitTarget(inService, 1, peak).at(0)).isGreaterThanOrEqualTo(limit);
      assertThat(new LimitTarget(inService, 1, peak - 1).at(0)).isLessThan(limit);
    }
  }
}
