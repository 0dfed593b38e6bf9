package io.throttlekit.limit.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FadingRegressionTest {
  private static final long SEED = 9;

  private final FadingRegression regression = new FadingRegression(0.5, 0.01);

  @Test
  void oneSampleHasNoSlope() {
    assertThat(regression.slope()).isEqualTo(Slope.UNKNOWN);
    regression.add(3, 5);
    assertThat(regression.slope()).isEqualTo(Slope.UNKNOWN);
  }

  /** The weights of the samples are ½ and 1. */
  @Test
  void samplesOnALineHaveTheVarianceThatIsGiven() {
    regression.add(1, 10);
    regression.add(3, 16);
    double squares = 0.5 * 1 + 9 - 3.5 * 3.5 / 1.5;
    assertThat(regression.slope().value()).isCloseTo(3, within(1e-9));
    assertThat(regression.slope().precision()).isCloseTo(squares / (0.01 / 1.5), within(1e-6));
  }

  @Test
  void aLineWithoutVarianceIsPerfect() {
    FadingRegression exact = new FadingRegression(1, 0);
    exact.add(1, 10);
    exact.add(2, 13);
    exact.add(4, 19);
    assertThat(exact.slope().value()).isCloseTo(3, within(1e-9));
    assertThat(exact.slope().precision()).isGreaterThan(1e9);
  }

  /** Residuals of 1, −2 and 1 about a slope of 0. */
  @Test
  void thePrecisionFollowsFromTheResiduals() {
    FadingRegression all = new FadingRegression(1, 0);
    all.add(-1, 1);
    all.add(0, -2);
    all.add(1, 1);
    assertThat(all.slope().value()).isCloseTo(0, within(1e-9));
    assertThat(all.slope().precision()).isCloseTo(2 / (6 / 3.0), within(1e-9));
  }

  @Test
  void eachSampleCountsLessTheMoreHaveFollowed() {
    for (int i = 0; i < 50; i++) {
      regression.add(i % 2, 0);
    }
    for (int i = 0; i < 4; i++) {
      regression.add(i % 2, i % 2);
    }
    assertThat(regression.slope().value()).isBetween(0.9, 0.99);
    for (int i = 0; i < 50; i++) {
      regression.add(i % 2, i % 2);
    }
    assertThat(regression.slope().value()).isCloseTo(1, within(1e-9));
  }

  /** Without the guard, a third of these slopes were rounding errors. */
  @Test
  void aValueThatDoesNotChangeHasNoSlope() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int x = 2; x < 2_000; x++) {
      FadingRegression constant = new FadingRegression(0.7, 0.01);
      for (int i = 0; i < 20; i++) {
        constant.add(Math.log(x), random.nextDouble());
        assertThat(constant.slope()).as("log %s, seed %s", x, SEED).isEqualTo(Slope.UNKNOWN);
      }
    }
  }

  @Test
  void aValueThatHardlyChangesHasASlope() {
    regression.add(5, 1);
    regression.add(5.0001, 1.0001);
    assertThat(regression.slope().value()).isCloseTo(1, within(1e-3));
  }

  @Test
  void nothingIsLeftAfterAReset() {
    regression.add(1, 10);
    regression.add(3, 16);
    regression.reset();
    assertThat(regression.slope()).isEqualTo(Slope.UNKNOWN);
    regression.add(1, 0);
    assertThat(regression.slope()).isEqualTo(Slope.UNKNOWN);
    regression.add(2, 1);
    assertThat(regression.slope().value()).isCloseTo(1, within(1e-9));
  }
}
