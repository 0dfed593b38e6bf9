package io.throttlekit.lease.sizing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LeaseCostTest {
  private final LeaseCost cost = new LeaseCost(20, 1);

  @Test
  void theBestSizeIsTheEconomicOrderQuantity() {
    assertThat(cost.best(100)).isEqualTo(Math.sqrt(4000));
    assertThat(cost.best(0)).isZero();
    assertThat(cost.of(100, 10)).isEqualTo(20 * 100 / 10.0 + 10 / 2.0);
  }

  @Test
  void noSizeCostsLessThanTheBestAndTheSlopePointsAwayFromIt() {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 1_000; i++) {
      double demand = random.nextDouble(1, 1e6);
      double size = random.nextDouble(1, 1e5);
      double best = cost.best(demand);
      assertThat(cost.of(demand, size)).as("seed 3").isGreaterThanOrEqualTo(cost.of(demand, best));
      assertThat(Math.signum(cost.slope(demand, size))).isEqualTo(Math.signum(size - best));
    }
  }

  @Test
  void aWindowWithoutDemandCostsNothingWithAnySize() {
    assertThat(cost.of(0, 500)).isZero();
    assertThat(cost.slope(0, 500)).isZero();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
  void pricesAreAboveZeroAndFinite(double price) {
    assertThatIllegalArgumentException().isThrownBy(() -> new LeaseCost(price, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new LeaseCost(1, price));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "the whole size while much is expected, 0, 20",
    "what is left of a demand of 100, 85, 15",
    "half at least, 97, 10",
    "half at the end of what was expected, 100, 10",
    "half of the size that is best for what came, 400, 20",
  })
  void theNextLeaseShrinksTowardsTheCurrentDemand(String what, long offered, long units) {
    assertThat(new LeaseCost(20, 10).next(20, offered, 1_000)).as(what).isEqualTo(units);
  }

  @Test
  void theNextLeaseIsWithinTheLimitAndAtLeastHalfTheSize() {
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 10_000; i++) {
      long limit = random.nextLong(1, 1L << random.nextInt(1, 53));
      double size = Math.exp(random.nextDouble() * Math.log((double) limit));
      long offered = random.nextLong(0, 1L << random.nextInt(1, 62));
      assertThat(cost.next(size, offered, limit))
          .as("seed 5 step %s: size %s, offered %s, limit %s", i, size, offered, limit)
          .isBetween(Math.max(1, Math.round(size / 2 - 0.5)), limit);
    }
  }

  @Test
  void demandBeyondTheLimitCountsAsTheLimit() {
    assertThat(new LeaseCost(20, 10).next(10, Long.MAX_VALUE, 100))
        .isEqualTo(Math.round(new LeaseCost(20, 10).best(100) / 2));
    assertThat(new LeaseCost(20, 10).best(100)).isCloseTo(20, within(1e-9));
  }
}
