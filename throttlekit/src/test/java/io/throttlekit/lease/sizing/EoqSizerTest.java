package io.throttlekit.lease.sizing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EoqSizerTest {
  private static final long LIMIT = 1_000_000;
  private final LeaseCost cost = new LeaseCost(20, 10);
  private final EoqSizer sizer = new EoqSizer(cost, LIMIT);

  @Test
  void startsInTheMiddleOfTheRangeOfRatios() {
    assertThat(sizer.learned()).isCloseTo(1_000, within(1e-6));
    assertThat(new EoqSizer(cost, 1).size(0, 1)).isOne();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 5, 100, 20_000, 1_000_000, Long.MAX_VALUE})
  void theFirstWindowAtMostDoublesOrHalvesTheSize(long demand) {
    double before = sizer.learned();
    sizer.observe(demand, LIMIT);
    assertThat(sizer.learned() / before).isBetween(0.4999, 2.0001);
  }

  @ParameterizedTest
  @ValueSource(longs = {20, 100, 1_000, 50_000, 1_000_000})
  void findsTheBestSizeForSteadyDemand(long demand) {
    for (int window = 0; window < 200; window++) {
      sizer.observe(demand, LIMIT);
    }
    assertThat(sizer.learned())
        .isCloseTo(cost.best((double) demand), within(0.05 * cost.best((double) demand)));
  }

  @Test
  void followsADriftingOptimum() {
    double demand = 10_000;
    for (int window = 0; window < 2_000; window++) {
      demand *= window / 500 % 2 == 0 ? 1.01 : 1 / 1.01; // up and down again, by 145 to 1
      sizer.observe(Math.round(demand), LIMIT);
      if (window >= 50) {
        assertThat(sizer.learned() / cost.best(demand)).as("window %s", window).isBetween(0.5, 2.0);
      }
    }
  }

  @Test
  void demandBeyondTheLimitCountsAsTheLimit() {
    EoqSizer flooded = new EoqSizer(cost, 100);
    for (int window = 0; window < 500; window++) {
      flooded.observe(1_000_000_000, 100);
    }
    assertThat(flooded.learned()).isCloseTo(cost.best(100), within(0.5));
  }

  @Test
  void windowsWithoutDemandAreIgnored() {
    sizer.observe(300, LIMIT);
    double before = sizer.learned();
    for (int window = 0; window < 1_000; window++) {
      sizer.observe(0, LIMIT);
    }
    assertThat(sizer.learned()).isEqualTo(before);
  }

  @Test
  void aLoweredLimitAppliesAtOnce() {
    assertThat(sizer.size(0, 7)).isLessThanOrEqualTo(7);
    sizer.observe(5, 7);
    assertThat(sizer.learned()).isLessThanOrEqualTo(7);
  }

  @Test
  void sizesStayBetweenOneAndTheLimit() {
    for (int seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long limit = 1L << random.nextInt(53);
      LeaseCost prices = new LeaseCost(random.nextDouble(0.01, 100), random.nextDouble(0.01, 100));
      EoqSizer any = new EoqSizer(prices, limit);
      PredictiveSizer led = new PredictiveSizer(prices, limit);
      for (int window = 0; window < 100; window++) {
        long offered = random.nextLong(1L << random.nextInt(1, 62));
        assertThat(any.size(offered, limit)).as("seed %s", seed).isBetween(1L, limit);
        assertThat(led.size(offered, limit)).as("seed %s", seed).isBetween(1L, limit);
        any.observe(offered, limit);
        led.observe(offered, limit);
      }
    }
  }

  @Test
  void regretPerWindowFallsWithTheSquareRootOfTheirNumber() {
    assertThat(regret(1_600)).isLessThan(0.6 * regret(400));
    assertThat(regret(6_400)).isLessThan(0.6 * regret(1_600));
  }

  /** Returns the regret per window, against the best size for the mean demand, with seed 7. */
  private double regret(int windows) {
    SplittableRandom random = new SplittableRandom(7);
    EoqSizer learner = new EoqSizer(cost, 1_000);
    double costs = 0;
    double sum = 0;
    for (int window = 0; window < windows; window++) {
      long demand = random.nextLong(40, 161);
      costs += cost.of((double) demand, learner.learned());
      sum += (double) demand;
      learner.observe(demand, 1_000);
    }
    return costs / windows - cost.of(sum / windows, cost.best(sum / windows));
  }
}
