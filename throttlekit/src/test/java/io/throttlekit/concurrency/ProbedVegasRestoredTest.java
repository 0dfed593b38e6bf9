package io.throttlekit.concurrency;

import static io.throttlekit.concurrency.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is known of a ceiling that a measurement has just given back. */
class ProbedVegasRestoredTest {
  private final ProbedVegasCourse course = new ProbedVegasCourse();

  /** Gates let in 21 of 26 so far: what is missing is on its way, and no room to grow into. */
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

  /** Twice as much is let in half a minute later: the backend may be another one by then. */
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
    assertThat(law.ceiling()).isNotEqualTo(restored); // it has learned from this window
    assertThat(law.baselineNanos()).isEqualTo(20e6);
  }

  private void crowded(ProbedVegasLimit law, double rttMillis, int inFlight) {
    law.refused(ms(course.now), 1_000);
    course.window(law, rttMillis, inFlight);
  }
}
