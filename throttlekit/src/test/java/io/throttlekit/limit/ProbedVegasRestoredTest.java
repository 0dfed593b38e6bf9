package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The limit after a measurement has restored it. */
class ProbedVegasRestoredTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  /** Limiters apply 21 of 26 so far: the rest is in transit, and no room to grow. */
  @Test
  void aRestoredLimitDoesNotCountAsUnused() {
    ProbedVegasLimit algorithm = course.calm(26, 20);
    algorithm.acknowledged(26, ms(course.now));
    for (int second = 0; second < 40 && !algorithm.isProbing(); second++) {
      course.saturated(algorithm, 26, 26);
    }
    assertThat(algorithm.limit()).isEqualTo(16);
    algorithm.acknowledged(16, ms(course.now));
    course.now += 700;
    course.probed(algorithm, 20, 50);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.limit()).isEqualTo(26);
    algorithm.acknowledged(21, ms(course.now));
    course.saturated(algorithm, 21, 20);
    assertThat(algorithm.limit()).isEqualTo(26);
  }

  /** Twice as much is admitted half a minute later: the backend may have changed by then. */
  @Test
  void samplesBeforeAMeasurementDoNotStartARise() {
    ProbedVegasLimit algorithm = course.calm(40, 20);
    for (int second = 0; second < 40 && !algorithm.isProbing(); second++) {
      algorithm.acknowledged(20, ms(course.now));
      crowded(algorithm, 40, 19);
    }
    assertThat(algorithm.isProbing()).isTrue();
    algorithm.acknowledged(algorithm.limit(), ms(course.now));
    course.now += 30_000;
    algorithm.refused(ms(course.now), 5);
    assertThat(algorithm.isProbing()).isFalse();
    int restored = algorithm.limit();
    algorithm.acknowledged(40, ms(course.now));
    crowded(algorithm, 42, 39);
    assertThat(algorithm.limit()).isNotEqualTo(restored); // changed by this window
    assertThat(algorithm.baseline.nanos()).isEqualTo(20e6);
  }

  private void crowded(ProbedVegasLimit algorithm, double rttMillis, int inFlight) {
    algorithm.refused(ms(course.now), 1_000);
    course.window(algorithm, rttMillis, inFlight);
  }
}
