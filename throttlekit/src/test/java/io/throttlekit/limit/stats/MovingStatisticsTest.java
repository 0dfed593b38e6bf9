package io.throttlekit.limit.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.Log10;
import org.junit.jupiter.api.Test;

/** Rows 25 to 30 are those of failsafe-go's own tests. */
class MovingStatisticsTest {

  @Test
  void row25MovingAverage() {
    assertThat(last(new MovingAverage(5, 3), 10, 20, 30)).isEqualTo(20);
    assertThat(Math.round(last(new MovingAverage(3, 2), 10, 20, 30, 40))).isEqualTo(31);
    assertThat(Math.round(last(new MovingAverage(5, 0), 100, 50))).isEqualTo(39);
  }

  @Test
  void row26MovingMedian() {
    MovingMedian ofThree = new MovingMedian(3);
    assertThat(new double[] {ofThree.add(1), ofThree.add(2), ofThree.add(3), ofThree.add(4)})
        .containsExactly(1, 2, 2, 3);
    MovingMedian ofFive = new MovingMedian(5);
    double median = 0;
    for (double value : new double[] {5, 2, 8, 1, 9}) {
      median = ofFive.add(value);
    }
    assertThat(median).isEqualTo(5);
  }

  @Test
  void row27CoefficientOfVariation() {
    CorrelationWindow window = new CorrelationWindow(3, 0);
    assertThat(variation(window, 10)).isZero();
    variation(window, 20);
    assertThat(variation(window, 30)).isCloseTo(.4082, within(5e-5));
    assertThat(variation(window, 40)).isCloseTo(.2722, within(5e-5));
    variation(window, 0); // does not count
    assertThat(variation(window, 20)).isCloseTo(.2722, within(5e-5)); // again 20, 30 and 40
    window = new CorrelationWindow(3, 0);
    variation(window, 5);
    variation(window, 0);
    assertThat(variation(window, 10)).isCloseTo(.3333, within(5e-5));
  }

  @Test
  void row28Correlation() {
    CorrelationWindow window = new CorrelationWindow(3, 0);
    assertThat(window.add(1, 10).correlation()).isZero();
    assertThat(window.add(2, 20).correlation()).isCloseTo(1, within(1e-9));
    assertThat(window.add(3, 30).correlation()).isCloseTo(1, within(1e-9));
    assertThat(window.add(4, 40).correlation()).isCloseTo(1, within(1e-9));
    window = new CorrelationWindow(3, 0);
    window.add(1, 30);
    window.add(2, 20);
    assertThat(window.add(3, 10).correlation()).isCloseTo(-1, within(1e-9));
    window = new CorrelationWindow(3, 0);
    window.add(100, 200);
    window.add(100.1, 200.1);
    assertThat(window.add(100.05, 200.05).correlation()).isZero();
  }

  @Test
  void row28CorrelationIsZeroBeforeItsTenthPair() {
    CorrelationWindow window = new CorrelationWindow(50, 10);
    for (int i = 1; i <= 9; i++) {
      assertThat(window.add(i, 10 * i)).isEqualTo(new CorrelationWindow.Reading(0, 0, 0));
    }
    assertThat(window.add(10, 100).correlation()).isCloseTo(1, within(1e-9));
  }

  @Test
  void row29MaxWindowOfFiveMinutes() {
    MaxWindow window = new MaxWindow(seconds(300));
    window.add(1_030, seconds(0));
    window.add(691, seconds(30));
    window.add(849, seconds(60));
    window.add(836, seconds(90));
    window.add(1_028, seconds(120));
    assertThat(window.add(700, seconds(150))).isEqualTo(1_030);
    assertThat(window.add(650, seconds(301))).isEqualTo(1_028);
    assertThat(window.add(400, seconds(421))).isEqualTo(700);
    assertThat(window.add(300, seconds(601))).isEqualTo(400);
    assertThat(window.add(100, seconds(721))).isEqualTo(300);
  }

  @Test
  void row29MaxWindowExpiresValues() {
    MaxWindow window = new MaxWindow(seconds(300));
    window.add(700, seconds(0));
    window.add(1_000, seconds(60));
    window.add(600, seconds(120));
    assertThat(window.add(500, seconds(180))).isEqualTo(1_000);
    assertThat(window.add(800, seconds(420))).isEqualTo(800);
    MaxWindow minute = new MaxWindow(seconds(60));
    minute.add(1_000, seconds(0));
    assertThat(minute.add(50, seconds(600))).isEqualTo(50);
  }

  @Test
  void row30Log10() {
    assertThat(Log10.of(5)).isEqualTo(1);
    assertThat(Log10.of(1_000)).isEqualTo(3);
    assertThat(2 * Log10.of(100)).isEqualTo(4);
  }

  @Test
  void aPairWithZeroOrNanIsSkipped() {
    CorrelationWindow window = new CorrelationWindow(3, 0);
    window.add(1, 10);
    for (double nothing : new double[] {0, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThat(window.add(7, nothing)).isEqualTo(new CorrelationWindow.Reading(0, 0, 0));
      assertThat(window.add(nothing, 7)).isEqualTo(new CorrelationWindow.Reading(0, 0, 0));
    }
    window.add(2, 20);
    assertThat(window.add(3, 30).correlation()).isCloseTo(1, within(1e-9));
  }

  @Test
  void aHugeValueExpiresWithItsWindow() {
    CorrelationWindow window = new CorrelationWindow(3, 0);
    window.add(1e18, 1e18);
    window.add(1, 30);
    window.add(2, 20);
    assertThat(window.add(3, 10).correlation()).isCloseTo(-1, within(1e-9));
  }

  private static double variation(CorrelationWindow window, double value) {
    return window.add(value, value).xVariation();
  }

  private static double last(MovingAverage average, double... values) {
    double last = 0;
    for (double value : values) {
      last = average.add(value);
    }
    return last;
  }

  private static long seconds(long seconds) {
    return seconds * 1_000_000_000L;
  }
}
