package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.RequestStatistics;
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
  void theMeanFollowsTheLatencyOfTheLastDigestsAtOnce() {
    repeat(20, List.of(digest(500, 20, 25)), 1);
    estimate.add(List.of(digest(500, 40, 25)), 1, SECOND);
    assertThat(estimate.mean()).isEqualTo(20, within(1e-9));
  }

  @Test
  void theMeanFollowsTheThroughputOverSomeSeconds() {
    repeat(20, List.of(digest(500, 20, 25)), 1);
    estimate.add(List.of(digest(250, 40, 25)), 1, SECOND);
    double kept = Math.exp(-0.5); // of a second ago
    assertThat(estimate.mean()).isEqualTo((kept * 500 + (1 - kept) * 250) * 0.040, within(0.01));
    repeat(20, List.of(digest(250, 40, 25)), 1);
    assertThat(estimate.mean()).isEqualTo(10, within(0.01));
  }

  @Test
  void theLatencyIsThatOfBeforeWhereNoRequestWasAnswered() {
    repeat(20, List.of(digest(500, 20, 25)), 1);
    SampleDigest refusals =
        new SampleDigest(0, 0, 100, 25, true, RequestStatistics.NONE, List.of());
    estimate.add(List.of(refusals), 1, SECOND);
    assertThat(estimate.mean()).isEqualTo(10 * Math.exp(-0.5), within(0.01));
  }

  @Test
  void withoutAnyDigestNothingIsInFlight() {
    estimate.add(List.of(), 4, 0);
    assertThat(estimate.mean()).isZero();
    assertThat(estimate.divided()).isZero();
    assertThat(estimate.peak()).isEqualTo(1);
  }

  @Test
  void dividedRequestsDeviateByMoreThanTogether() {
    repeat(20, Collections.nCopies(4, digest(500, 20, 25)), 4);
    assertThat(estimate.divided()).isEqualTo(4 * Math.sqrt(10) - Math.sqrt(40), within(1e-9));
    for (int i = 0; i < 4; i++) { // heartbeats of one node after another
      estimate.add(List.of(digest(500, 20, 25)), 4, SECOND / 4);
    }
    assertThat(estimate.divided()).isEqualTo(4 * Math.sqrt(10) - Math.sqrt(40), within(0.1));
  }

  @Test
  void theRequestsOfOneNodeAreNotDivided() {
    repeat(20, List.of(digest(500, 20, 25)), 1);
    assertThat(estimate.divided()).isEqualTo(0, within(1e-9));
    for (int i = 0; i < 20; i++) {
      estimate.add(Collections.nCopies(2, digest(250, 20, 25)), 1, SECOND);
    }
    assertThat(estimate.divided()).as("of two digests").isEqualTo(0, within(0.05));
    estimate.add(List.of(digest(5_000, 20, 150)), 1, SECOND);
    assertThat(estimate.divided()).as("never negative").isNotNegative();
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
  void severalDigestsOfEachNodeDoNotRaiseThePeak() {
    repeat(20, Collections.nCopies(8, digest(250, 20, 16)), 4);
    assertThat(estimate.mean()).isEqualTo(40, within(1e-9));
    assertThat(estimate.peak()).isEqualTo(40 + 12);
  }

  @Test
  void theMeanIsNoMoreThanThePeak() {
    estimate.add(List.of(digest(500, 20, 6)), 1, SECOND);
    assertThat(estimate.mean()).isEqualTo(6);
  }

  /** Their heartbeats alternate. */
  @Test
  void unevenlyUsedNodesAreDividedByTheMeanOfTheirRoots() {
    for (int i = 0; i < 40; i++) {
      estimate.add(List.of(digest(i % 2 == 0 ? 800 : 200, 20, 25)), 2, SECOND / 2);
    }
    assertThat(estimate.divided()).isEqualTo(4 + 2 - Math.sqrt(16 + 4), within(0.3));
  }

  @Test
  void aSpanWithoutDigestsLeavesTheMeanNearlyAsItWas() {
    for (int i = 0; i < 20; i++) {
      estimate.add(List.of(digest(500, 20, 25)), 1, SECOND);
    }
    estimate.add(List.of(), 1, SECOND / 10);
    assertThat(estimate.mean()).isEqualTo(10, within(0.5));
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

  private void repeat(int seconds, List<SampleDigest> digests, int nodes) {
    for (int i = 0; i < seconds; i++) {
      estimate.add(digests, nodes, SECOND);
    }
  }

  private static SampleDigest digest(long answered, int millis, int peak) {
    return new SampleDigest(
        answered,
        0,
        0,
        peak,
        false,
        RequestStatistics.NONE,
        List.of(TimeUnit.MILLISECONDS.toNanos(millis)));
  }
}
