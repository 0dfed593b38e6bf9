package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class VariabilityTest {
  private static final long INTERVAL = TimeUnit.SECONDS.toNanos(60);

  private final Variability variability = new Variability();

  @Test
  void latenciesThatAlternateByHalfMakeAStepAFifth() {
    alternate(30);
    assertThat(variability.damped(40, 60)).isCloseTo(44, within(1e-9));
    assertThat(variability.damped(40, 20)).isCloseTo(36, within(1e-9));
  }

  /** By chance, as means of a few hundred requests do. */
  @Test
  void smallChangesMakeNoStepSmaller() {
    for (int window = 0; window < 100; window++) {
      variability.add(40, window % 2 == 0 ? 20e6 : 22e6);
    }
    assertThat(variability.damped(40, 20)).isEqualTo(20);
  }

  @Test
  void latencyThatFollowsTheLimitDoesNotCount() {
    for (int window = 0; window < 100; window++) {
      boolean high = window % 2 == 0;
      variability.add(high ? 40 : 20, high ? 40e6 : 20e6); // behind a queue
    }
    assertThat(variability.damped(40, 20)).isEqualTo(20);
    for (int window = 0; window < 100; window++) {
      variability.add(window % 2 == 0 ? 40 : 20, 20e6); // without one
    }
    assertThat(variability.damped(40, 20)).isEqualTo(20);
  }

  @Test
  void latencyThatRisesWhileTheLimitFallsCounts() {
    for (int window = 0; window < 100; window++) {
      boolean high = window % 2 == 0;
      variability.add(high ? 40 : 36, high ? 20e6 : 26e6);
    }
    assertThat(variability.damped(40, 20)).isEqualTo(36, within(1e-9));
  }

  /** A backend that becomes ten times slower, and fast again. */
  @Test
  void twoLargeChangesMakeNoStepSmaller() {
    variability.add(40, 20e6);
    variability.add(40, 200e6);
    variability.add(40, 20e6);
    assertThat(variability.damped(40, 20)).isEqualTo(20);
    variability.add(40, 200e6);
    assertThat(variability.damped(40, 20)).isGreaterThan(20);
  }

  @Test
  void theEffectEndsTenWindowsAfterTheChanges() {
    alternate(30);
    for (int window = 0; window < 20; window++) {
      variability.add(40, 20e6);
    }
    assertThat(variability.damped(40, 20)).isEqualTo(20);
  }

  @Test
  void aWindowAfterASkippedOneIsNotCompared() {
    for (int window = 0; window < 100; window++) {
      variability.add(40, window % 2 == 0 ? 20e6 : 40e6);
      variability.skip();
    }
    assertThat(variability.damped(40, 20)).isEqualTo(20);
  }

  @Test
  void doubtsWaitAnIntervalWhereLatencyVariesByItself() {
    assertThat(variability.mayDoubt(0, INTERVAL)).isTrue();
    variability.measuredDoubt(0);
    assertThat(variability.mayDoubt(0, INTERVAL)).isTrue(); // latency is constant
    alternate(30);
    assertThat(variability.mayDoubt(INTERVAL - 1, INTERVAL)).isFalse();
    assertThat(variability.mayDoubt(INTERVAL, INTERVAL)).isTrue();
  }

  @Test
  void theFirstDoubtDoesNotWait() {
    alternate(30);
    assertThat(variability.mayDoubt(0, INTERVAL)).isTrue();
  }

  private void alternate(int windows) {
    for (int window = 0; window < windows; window++) {
      variability.add(40, window % 2 == 0 ? 20e6 : 30e6);
    }
  }
}
