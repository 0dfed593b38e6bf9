package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.SampleDigest;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InFlightEstimateTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final InFlightEstimate estimate = new InFlightEstimate();

  @Test
  void ofOneNodeItIsTheMeanByLittlesLawAndThePeakOfTheNode() {
    estimate.add(List.of(digest(500, 20, 25)), 1, SECOND);
    assertThat(estimate.mean()).isEqualTo(10, within(1e-9));
    assertThat(estimate.peak()).isEqualTo(25);
  }

  @Test
  void peaksOfNodesDoNotCoincide() {
    estimate.add(Collections.nCopies(4, digest(500, 20, 16)), 4, SECOND);
    assertThat(estimate.mean()).isEqualTo(40, within(1e-9));
    assertThat(estimate.peak()).isEqualTo(40 + 12); // √(4 · 6²) above the mean
  }

  @Test
  void twiceThePeakHasRoomForTheShareOfEachNode() {
    estimate.add(Collections.nCopies(16, digest(1, 20, 4)), 16, SECOND);
    assertThat(2 * estimate.peak()).isEqualTo(16 * 5 + 6);
  }

  @Test
  void oneHighPeakOfEachNodeIsNotUsual() {
    for (int i = 0; i < 30; i++) {
      estimate.add(Collections.nCopies(16, digest(1, 20, 4)), 16, SECOND);
    }
    estimate.add(Collections.nCopies(16, digest(1, 20, 6)), 16, SECOND);
    assertThat(2 * estimate.peak()).isBetween(16 * 5 + 6, 16 * 6 + 6);
  }

  @Test
  void severalDigestsOfANodeCountAsOneNode() {
    for (int i = 0; i < 20; i++) {
      estimate.add(Collections.nCopies(2, digest(250, 20, 25)), 1, SECOND);
    }
    assertThat(estimate.mean()).isEqualTo(10, within(1e-9));
    assertThat(estimate.peak()).isEqualTo(25);
  }

  @Test
  void aSpanWithoutDigestsLeavesTheMeanNearlyAsItWas() {
    for (int i = 0; i < 20; i++) {
      estimate.add(List.of(digest(500, 20, 25)), 1, SECOND);
    }
    estimate.add(List.of(), 1, SECOND / 10);
    assertThat(estimate.mean()).isBetween(0.0, 25.0);
    estimate.add(List.of(digest(500, 20, 25)), 1, 9 * SECOND / 10);
    assertThat(estimate.mean()).isEqualTo(10, within(0.5));
  }

  @Test
  void theDigestOfOneOfTheNodesDoesNotLowerTheMean() {
    for (int i = 0; i < 20; i++) {
      estimate.add(Collections.nCopies(4, digest(500, 20, 12)), 4, SECOND);
    }
    for (int i = 0; i < 5; i++) {
      estimate.add(List.of(digest(50, 20, 12)), 4, SECOND / 10);
    }
    assertThat(estimate.mean()).isGreaterThan(30);
    assertThat(estimate.whenAdmitted(0, true)).isGreaterThan(30);
  }

  @Test
  void aRequestOfAFullLimitIsAdmittedWhenOneHasEnded() {
    estimate.add(List.of(digest(525, 20, 25)), 1, SECOND);
    assertThat(estimate.whenAdmitted(0.49, true)).isEqualTo(10);
    assertThat(estimate.whenAdmitted(0.51, true)).isEqualTo(11);
  }

  @Test
  void aRequestThatComesAtRandomFindsTheMeanAndIsOneMore() {
    estimate.add(List.of(digest(525, 20, 25)), 1, SECOND);
    assertThat(estimate.whenAdmitted(0.49, false)).isEqualTo(11);
    assertThat(estimate.whenAdmitted(0.51, false)).isEqualTo(12);
    estimate.add(List.of(digest(1, 20, 1)), 1, 20 * SECOND);
    assertThat(estimate.whenAdmitted(0.99, false)).as("no more than the peak").isEqualTo(1);
  }

  private static SampleDigest digest(long answered, int millis, int peak) {
    return new SampleDigest(
        answered, 0, 0, peak, false, List.of(TimeUnit.MILLISECONDS.toNanos(millis)));
  }
}
