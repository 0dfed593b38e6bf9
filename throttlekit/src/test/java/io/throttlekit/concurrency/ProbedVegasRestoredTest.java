package io.throttlekit.concurrency;

import static io.throttlekit.concurrency.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The limit after a measurement has restored it. */
class ProbedVegasRestoredTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  /** Limiters apply 21 of 26 so far: the rest is in transit, and no room to grow. */
  @Test
  void aLimitThatIsGivenBackHasNotRested() {
    ProbedVegasLimit algorithm = course.calm(26, 20);
    algorithm.inForce(26, ms(course.now));
    for (int second = 0; second < 40 && !algorithm.measuring(); second++) {
      course.saturated(algorithm, 26, 12);
    }
    assertThat(algorithm.limit()).isEqualTo(16);
    algorithm.inForce(16, ms(course.now));
    course.now += 700;
    course.probed(algorithm, 20, 50);
    assertThat(algorithm.measuring()).isFalse();
    assertThat(algorithm.limit()).isEqualTo(26);
    algorithm.inForce(21, ms(course.now));
    course.saturated(algorithm, 21, 20);
    assertThat(algorithm.limit()).isEqualTo(26);
  }

  /** Twice as much is admitted half a minute later: the backend may have changed by then. */
  @Test
  void whatWasSeenBeforeAMeasurementIsNoBeginningOfARise() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int second = 0; second < 40 && !algorithm.measuring(); second++) {
      algorithm.inForce(20, ms(course.now));
      crowded(algorithm, 40, 19);
    }
    assertThat(algorithm.measuring()).isTrue();
    algorithm.inForce(algorithm.limit(), ms(course.now));
    course.now += 30_000;
    algorithm.refused(ms(course.now), 5);
    assertThat(algorithm.measuring()).isFalse();
    int restored = algorithm.limit();
    algorithm.inForce(40, ms(course.now));
    crowded(algorithm, 42, 39);
    assertThat(algorithm.limit()).isNotEqualTo(restored); // changed by this window
    assertThat(algorithm.baselineNanos()).isEqualTo(20e6);
  }

  private void crowded(ProbedVegasLimit algorithm, double rttMillis, int inFlight) {
    algorithm.refused(ms(course.now), 1_000);
    course.window(algorithm, rttMillis, inFlight);
  }
}
