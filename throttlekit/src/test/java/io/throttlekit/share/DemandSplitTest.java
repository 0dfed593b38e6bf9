package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DemandSplitTest {
  @Test
  void dividesUndemandedSlotsEqually() {
    assertThat(DemandSplit.of(10, new long[] {0, 0, 0})).containsExactly(4, 3, 3);
    assertThat(DemandSplit.of(10, new long[] {5, 0, 0})).containsExactly(6, 2, 2);
  }

  @Test
  void meetsSmallDemandsAndDividesTheRestEqually() {
    assertThat(DemandSplit.of(10, new long[] {31, 11, 0})).containsExactly(5, 4, 1);
    assertThat(DemandSplit.of(100, new long[] {40, 10, 90, 30})).containsExactly(30, 10, 30, 30);
    assertThat(DemandSplit.of(100, new long[] {1 << 30, 0})).containsExactly(99, 1);
  }

  @Test
  void anExaggeratedDemandDoesNotReduceAnEqualShare() {
    assertThat(DemandSplit.of(200, new long[] {1L << 31, 60, 60, 60}))
        .containsExactly(50, 50, 50, 50);
    assertThat(DemandSplit.of(200, new long[] {1L << 31, 10, 10, 10}))
        .containsExactly(170, 10, 10, 10);
  }

  @Test
  void theFirstAboveTheLevelGetTheRemainder() {
    assertThat(DemandSplit.of(12, new long[] {2, 9, 6, 11})).containsExactly(2, 4, 3, 3);
    assertThat(DemandSplit.of(11, new long[] {6, 6, 11})).containsExactly(4, 4, 3);
  }

  @Test
  void withTooFewSlotsTheFirstGetOneEach() {
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

  @Test
  void everyShareIsTheDemandOrAtLeastAnEqualShare() {
    SplittableRandom random = new SplittableRandom(2);
    int contested = 0;
    for (int i = 0; i < 20_000; i++) {
      long most = 1L << random.nextInt(1, 32);
      long[] wants = random.longs(random.nextInt(1, 6), 0, most).toArray();
      int slots = random.nextInt(0, (int) Math.min(Integer.MAX_VALUE, 2 * most));
      int[] shares = DemandSplit.of(slots, wants);
      contested += Arrays.stream(wants).sum() > slots ? 1 : 0;
      for (int id = 0; id < wants.length; id++) {
        assertThat((long) shares[id])
            .as("%s slots for %s", slots, Arrays.toString(wants))
            .isGreaterThanOrEqualTo(Math.min(wants[id], slots / wants.length));
      }
    }
    assertThat(contested).isBetween(5_000, 19_000);
  }
}
