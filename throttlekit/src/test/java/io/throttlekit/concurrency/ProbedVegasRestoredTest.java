package io.throttlekit.concurrency;

import static io.throttlekit.concurrency.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The limit after a measurement has restored it. */
class ProbedVegasRestoredTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  /** Limiters apply 21 of 26 so far: the rest is in transit, and no room to grow. */
  @Test
  void aCeilingThatIsGivenBackHasNotRested() {
    ProbedVegasLimit law = course.calm(26, 20);
    law.inForce(26, ms(course.now));
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      course.saturated(law, 26, 12);
    }
    assertThat(law.ceiling()).isEqualTo(16);
    law.inForce(16, ms(course.now));
    course.now += 700;
    course.probed(law, 20, 50);
    assertThat(law.measuring()).isFalse();
    assertThat(law.ceiling()).isEqualTo(26);
    law.inForce(21, ms(course.now));
    course.saturated(law, 21, 20);
    assertThat(law.ceiling()).isEqualTo(26);
  }

  /** Twice as much is admitted half a minute later: the backend may have changed by then. */
  @Test
  void whatWasSeenBeforeAMeasurementIsNoBeginningOfARise() {
    ProbedVegasLimit law = course.calm(40, 20);
    for (int second = 0; second < 40 && !law.measuring(); second++) {
      law.inForce(20, ms(course.now));
      crowded(law, 40, 19);
    }
    assertThat(law.measuring()).isTrue();
    law.inForce(law.ceiling(), ms(course.now));
    course.now += 30_000;
    law.refused(ms(course.now), 5);
    assertThat(law.measuring()).isFalse();
    int restored = law.ceiling();
    law.inForce(40, ms(course.now));
    crowded(law, 42, 39);
    assertThat(law.ceiling()).isNotEqualTo(restored); // changed by this window
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  private void crowded(ProbedVegasLimit law, double rttMillis, int inFlight) {
    law.refused(ms(course.now), 1_000);
    course.window(law, rttMillis, inFlight);
  }
}
