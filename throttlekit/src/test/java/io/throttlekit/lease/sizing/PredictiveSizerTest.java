package io.throttlekit.lease.sizing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.SplittableRandom;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PredictiveSizerTest {
  private static final long LIMIT = 10_000;
  private static final int WINDOWS = 2_000;
  private final LeaseCost cost = new LeaseCost(20, 10);

  @Test
  void perfectPredictionsCostTheOptimum() {
    Costs costs = play(11, demand -> (double) demand);
    assertThat(costs.predictive() / costs.clairvoyant()).isBetween(1.0, 1.001);
    assertThat(costs.robust() / costs.clairvoyant()).isGreaterThan(1.2);
  }

  @Test
  void predictionsWithATenPercentErrorCostHardlyMore() {
    SplittableRandom random = new SplittableRandom(13);
    Costs costs = play(11, demand -> (double) demand * random.nextDouble(0.9, 1.1));
    assertThat(costs.predictive() / costs.clairvoyant()).isBetween(1.0, 1.002);
  }

  @Test
  void predictionsThatAreAlwaysWrongCostHardlyMoreThanNone() {
    Costs costs = play(11, demand -> demand < 300 ? (double) LIMIT : 1);
    assertThat(costs.predictive() / costs.robust()).isLessThan(1.005);
  }

  @Test
  void abandonsPredictionsSoonAfterTheyTurnBad() {
    PredictiveSizer sizer = new PredictiveSizer(cost, LIMIT);
    for (int window = 0; window < 100_000; window++) {
      long demand = window % 2 == 0 ? 10 : 5_000;
      sizer.predict((double) demand);
      sizer.observe(demand, LIMIT);
    }
    assertThat(sizer.weightOfFollowing()).isGreaterThan(0.99);
    for (int window = 0; window < 20; window++) {
      sizer.predict((double) LIMIT);
      sizer.observe(100, LIMIT);
    }
    assertThat(sizer.weightOfFollowing()).isLessThan(0.5);
  }

  @Test
  void expectsTheDemandOfTheLastWindowThatHadAny() {
    PredictiveSizer sizer = new PredictiveSizer(cost, LIMIT);
    for (int window = 0; window < 2_000; window++) { // too fast for the robust learner
      sizer.observe(window / 200 % 2 == 0 ? 10 : 5_000, LIMIT);
    }
    assertThat(sizer.size(0, LIMIT)).isCloseTo(141, withinPercentage(3));
    sizer.observe(10, LIMIT);
    sizer.observe(0, LIMIT);
    assertThat(sizer.size(0, LIMIT)).isBetween(6L, 7L);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 100, 10_000, Long.MAX_VALUE})
  void theFirstWindowMovesTheSizeByAFactorOfFourAtMost(long demand) {
    PredictiveSizer sizer = new PredictiveSizer(cost, 2_500);
    sizer.observe(demand, 2_500);
    double start = 50;
    assertThat(sizer.size(0, 2_500) / start).isBetween(0.25, 4.0);
  }

  private record Costs(double predictive, double robust, double clairvoyant) {}

  /** Demand that jumps between levels, so that neither a fixed size nor a slow learner fits. */
  private Costs play(int seed, LongToDoubleFunction prediction) {
    SplittableRandom random = new SplittableRandom(seed);
    PredictiveSizer predictive = new PredictiveSizer(cost, LIMIT);
    EoqSizer robust = new EoqSizer(cost, LIMIT);
    double[] costs = new double[3];
    for (int window = 0; window < WINDOWS; window++) {
      long demand = random.nextBoolean() ? random.nextLong(10, 50) : random.nextLong(500, 2_000);
      predictive.predict(prediction.applyAsDouble(demand));
      costs[0] += cost.of((double) demand, predictive.planned(LIMIT));
      costs[1] += cost.of((double) demand, robust.learned());
      costs[2] += cost.of((double) demand, cost.best((double) demand));
      predictive.observe(demand, LIMIT);
      robust.observe(demand, LIMIT);
    }
    return new Costs(costs[0], costs[1], costs[2]);
  }
}
