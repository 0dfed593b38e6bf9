package io.throttlekit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DemandSplitTest {
  @Test
  void dividesWhatNobodyWantsEqually() {
    assertThat(DemandSplit.of(10, new long[] {0, 0, 0})).containsExactly(4, 3, 3);
    assertThat(DemandSplit.of(10, new long[] {5, 0, 0})).containsExactly(6, 2, 2);
  }

  @Test
  void dividesByDemandWhereItDoesNotSuffice() {
    assertThat(DemandSplit.of(10, new long[] {31, 11, 0})).containsExactly(6, 3, 1);
    assertThat(DemandSplit.of(100, new long[] {1 << 30, 0})).containsExactly(99, 1);
  }

  @Test
  void theLargestRemainderGetsWhatIsLeftOver() {
    // 7 beyond the floors, for 5 : 5 : 10, are 1.75, 1.75 and 3.5
    assertThat(DemandSplit.of(10, new long[] {6, 6, 11})).containsExactly(3, 3, 4);
  }

  @Test
  void theFirstGetASlotWhereThereAreTooFew() {
    assertThat(DemandSplit.of(2, new long[] {0, 9, 9})).containsExactly(1, 1, 0);
    assertThat(DemandSplit.of(0, new long[] {9})).containsExactly(0);
    assertThat(DemandSplit.of(5, new long[0])).isEmpty();
  }

  @Test
  void alwaysGivesEverySlotAndNoMore() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 20_000; i++) {
      long most = 1L << random.nextInt(1, 32);
      long[] wants = random.longs(random.nextInt(1, 6), 0, most).toArray();
      int slots = random.nextInt(0, (int) Math.min(Integer.MAX_VALUE, most));
      int[] shares = DemandSplit.of(slots, wants);
      assertThat(Arrays.stream(shares).asLongStream().sum())
          .as("%s slots for %s", slots, Arrays.toString(wants))
          .isEqualTo(slots);
      assertThat(Arrays.stream(shares).min().orElseThrow())
          .as("%s slots for %s", slots, Arrays.toString(wants))
          .isGreaterThanOrEqualTo(slots >= wants.length ? 1 : 0);
    }
  }
}
