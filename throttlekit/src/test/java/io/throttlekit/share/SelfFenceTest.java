package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * By how much a node that gets no answers any more may exceed the limit, by arithmetic: it fences
 * itself a margin before its lease ends by its own clock, and the coordinator grants its share to
 * others once the lease has ended by a clock that is ahead.
 */
class SelfFenceTest {
  private static final int LEASE = 100;
  private static final int IN_FLIGHT = 8;
  private static final int MAX_REQUEST = 20;
  private static final int MAX_SKEW = 10;
  private static final int NO_FENCE = -1_000_000;

  /** Requests of the node that are in flight after the coordinator granted its share to others. */
  private static int overshoot(int margin, boolean aborts, int skew) {
    int endsAt = LEASE - margin + (aborts ? 0 : MAX_REQUEST);
    int reclaimedAt = LEASE - skew;
    return endsAt > reclaimedAt ? IN_FLIGHT : 0;
  }

  @ParameterizedTest(name = "margin {0}, aborts {1}, skew {2}")
  @CsvSource({
    "10, true, 0, 0",
    "10, true, 10, 0",
    "9, true, 9, 0",
    "9, true, 10, 8",
    "10, false, 10, 8",
    "30, false, 0, 0",
    "30, false, 10, 0",
    "29, false, 10, 8",
  })
  void theMarginMustCoverTheSkewAndRequestsThatAreNotAborted(
      int margin, boolean aborts, int skew, int overshoot) {
    assertThat(overshoot(margin, aborts, skew)).isEqualTo(overshoot);
  }

  @Test
  void withoutAFenceAllRequestsExceedTheLimitWhateverTheSkew() {
    for (int skew = 0; skew <= MAX_SKEW; skew++) {
      assertThat(overshoot(NO_FENCE, true, skew)).as("skew %s", skew).isEqualTo(IN_FLIGHT);
    }
  }

  @Test
  void theSmallestSafeMarginIsTheSkewPlusTheLongestRequestThatIsNotAborted() {
    assertThat(smallestSafeMargin(true)).isEqualTo(MAX_SKEW);
    assertThat(smallestSafeMargin(false)).isEqualTo(MAX_SKEW + MAX_REQUEST);
  }

  private static int smallestSafeMargin(boolean aborts) {
    int margin = 0;
    while (!isSafe(margin, aborts)) {
      margin++;
    }
    return margin;
  }

  private static boolean isSafe(int margin, boolean aborts) {
    for (int skew = 0; skew <= MAX_SKEW; skew++) {
      if (overshoot(margin, aborts, skew) > 0) {
        return false;
      }
    }
    return true;
  }
}
