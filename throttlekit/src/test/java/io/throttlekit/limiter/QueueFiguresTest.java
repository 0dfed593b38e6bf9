package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueueFiguresTest {

  @ParameterizedTest
  @CsvSource({
    "5, 10, 20, 0",
    "60, 60, 100, 0",
    "80, 60, 100, .5",
    "100, 60, 100, 1",
    "120, 60, 100, 1",
    "11, 10, 20, .1",
    "3, 3, 3, 1",
    "2, 3, 3, 0"
  })
  void row19TheRejectionRateGrowsLinearlyFromThresholdToMaximum(
      long queued, long threshold, long most, double rate) {
    assertThat(new QueueFigures(1, queued, threshold, most).rejectionRate()).isEqualTo(rate);
  }

  @Test
  void row36CombinedQueuesAreTheirSums() {
    assertThat(
            new QueueFigures(5, 1, 8, 10)
                .plus(new QueueFigures(15, 4, 20, 25))
                .plus(new QueueFigures(25, 8, 35, 50)))
        .isEqualTo(new QueueFigures(45, 13, 63, 85));
  }

  @Test
  void bothBoundsFollowTheLimitAndAreWholeRequests() {
    assertThat(Queueing.of(1.5, 2.9).figures(3, 2)).isEqualTo(new QueueFigures(3, 2, 4, 8));
    assertThat(Queueing.of(2, 3).figures(Integer.MAX_VALUE, 0).max()).isEqualTo(Integer.MAX_VALUE);
  }
}
