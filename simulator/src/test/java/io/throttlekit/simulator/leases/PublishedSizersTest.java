package io.throttlekit.simulator.leases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.lease.sizing.LeaseCost;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the re-created sizers against the published sequences. */
class PublishedSizersTest {
  private final LeaseCost cost = new LeaseCost(20, 1);

  @Test
  void theRecreatedLearnerOvershootsAndRecoversAsPublished() {
    assertThat(sizes(new PublishedEoq(cost), 15))
        .containsExactly(
            1L, 1000L, 188L, 142L, 118L, 102L, 92L, 85L, 80L, 76L, 73L, 71L, 69L, 68L, 67L);
  }

  @Test
  void withTheWidestRangeItNeverRecovers() {
    assertThat(sizes(new PublishedEoq(cost, 1, 1_000_000, 1), 14))
        .containsExactly(1L, 1_000_000L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 2L, 2L, 2L);
  }

  @Test
  void aGoodFirstSizeDoesNotHelpIt() {
    assertThat(sizes(new PublishedEoq(cost, 1, 1_000, 64), 5))
        .containsExactly(64L, 1L, 1000L, 188L, 142L);
  }

  @Test
  void itsRangeIsFromOne() {
    assertThatIllegalArgumentException().isThrownBy(() -> new PublishedEoq(cost, 0, 10, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new PublishedEoq(cost, 10, 9, 1));
  }

  @Test
  void theRecreatedPredictiveLearnerFollowsAsPublished() {
    PublishedPredictive sizer = new PublishedPredictive(cost);
    List<Long> sizes = new ArrayList<>();
    for (int window = 0; window < 100; window++) {
      sizer.predict(100);
      sizes.add(sizer.size(0));
      assertThat(sizer.weightOfFollowing()).isBetween(0.5, 1.0);
      sizer.observe(100);
    }
    assertThat(sizes.getFirst()).isEqualTo(32);
    assertThat(sizes.subList(1, 100)).containsOnly(63L);
    assertThat(sizer.weightOfFollowing()).isCloseTo(1, within(1e-6));
  }

  @Test
  void itFollowsPredictionsWrongByAFactorOfAHundred() {
    PublishedPredictive sizer = new PublishedPredictive(cost);
    sizer.predict(10_000);
    List<Long> sizes = new ArrayList<>();
    for (int window = 0; window < 4; window++) {
      sizes.add(sizer.size(0));
      sizer.observe(100);
    }
    assertThat(sizes).containsExactly(317L, 632L, 632L, 632L);
  }

  @Test
  void withoutAPredictionItFollowsTheSmallestSize() {
    PublishedPredictive sizer = new PublishedPredictive(cost);
    sizer.predict(0);
    assertThat(sizer.size(0)).isOne();
  }

  private static List<Long> sizes(Learner learner, int windows) {
    List<Long> sizes = new ArrayList<>();
    for (int window = 0; window < windows; window++) {
      sizes.add(learner.size(0));
      learner.observe(100);
    }
    return sizes;
  }
}
