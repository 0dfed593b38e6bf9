package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LevelTrackerTest {

  @Test
  void row32EveryPriorityHasAHundredLevels() {
    int lowest = 0;
    for (Priority priority : Priority.values()) {
      assertThat(priority.lowest()).isEqualTo(lowest);
      assertThat(priority.highest()).isEqualTo(lowest + 99);
      assertThat(priority.level(0)).isEqualTo(lowest);
      assertThat(priority.level(.5)).isEqualTo(lowest + 50);
      assertThat(priority.level(Math.nextDown(1.0))).isEqualTo(lowest + 99);
      lowest += 100;
    }
    assertThat(lowest).isEqualTo(500);
    assertThat(Priority.VERY_HIGH.highest()).isEqualTo(Priority.MAX_LEVEL);
  }

  @Test
  void row33AQuantileIsALevelOfTheSample() {
    assertThat(levels(9).quantile(.5)).isZero();
    for (double quantile : new double[] {0, .3, 1}) {
      assertThat(levels(9, 250).quantile(quantile)).isEqualTo(250);
    }
    LevelTracker four = levels(9, 400, 200, 100, 300);
    assertThat(four.quantile(0)).isEqualTo(100);
    assertThat(four.quantile(.25)).isEqualTo(100);
    assertThat(four.quantile(.5)).isEqualTo(200);
    assertThat(four.quantile(.75)).isEqualTo(300);
    assertThat(four.quantile(1)).isEqualTo(400);
    LevelTracker hundred = levels(1_000, IntStream.range(0, 100).toArray());
    assertThat(hundred.quantile(.25)).isEqualTo(24);
    assertThat(hundred.quantile(.5)).isEqualTo(49);
    assertThat(hundred.quantile(.75)).isEqualTo(74);
  }

  @Test
  void row33OnlyTheLastLevelsCount() {
    assertThat(levels(3, 1, 2, 3).quantile(.5)).isEqualTo(2);
    assertThat(levels(3, 1, 2, 3, 4).quantile(.5)).isEqualTo(3);
    assertThat(levels(3, 1, 2, 3, 4, 5, 6).quantile(.5)).isEqualTo(5);
  }

  private static LevelTracker levels(int window, int... levels) {
    LevelTracker tracker = new LevelTracker(window);
    for (int level : levels) {
      tracker.add(level);
    }
    return tracker;
  }
}
