package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The division of known demands: its examples, and its four theorems on random instances. */
class WeightedMaxMinTest {
  private static final int INSTANCES = 20_000;

  private final SplittableRandom random = new SplittableRandom(20);
  private int instances;
  private int contested;
  private int pairs;

  @Test
  void dividesByWeightAndLeavesNoDemandUnmetWhileUnitsRemain() {
    assertThat(divide(10, of(100, 100), of(4, 1))).containsExactly(8, 2);
    assertThat(divide(10, of(2, 100), of(4, 1))).containsExactly(2, 8);
    assertThat(divide(10, of(2, 3), of(1, 1))).containsExactly(2, 3);
    assertThat(divide(10, of(9, 9, 9), of(1, 1, 1))).containsExactly(4, 3, 3);
    assertThat(divide(0, of(9), of(1))).containsExactly(0);
    assertThat(divide(9, of(), of())).isEmpty();
  }

  @Test
  void guaranteesAreMultipliedBeforeTheyAreDivided() {
    assertThat(WeightedMaxMin.guarantee(6, 11, 99)).isEqualTo(54);
  }

  /** Units given one at a time to the tenant with least for its weight would leave it with 100. */
  @Test
  void aLargeWeightAmongManySmallOnesHasItsGuarantee() {
    long[] weights = new long[101];
    long[] demands = new long[101];
    Arrays.fill(weights, 1);
    Arrays.fill(demands, 300);
    weights[0] = 100;
    assertThat(divide(300, demands, weights)[0]).isEqualTo(150);
  }

  @Test
  void theoremsHoldIn20000RandomInstances() {
    for (int i = 0; i < INSTANCES; i++) {
      check();
    }
    assertThat(instances).isEqualTo(INSTANCES);
    assertThat(contested).isBetween(INSTANCES / 4, INSTANCES * 9 / 10);
    assertThat(pairs).isGreaterThan(INSTANCES);
  }

  private void check() {
    int tenants = random.nextInt(1, 9);
    long most = 1L << random.nextInt(1, 46);
    long[] demands = random.longs(tenants, 0, most).toArray();
    long[] weights = random.longs(tenants, 1, 1L << random.nextInt(1, 40)).toArray();
    long units = random.nextLong(0, tenants * most);
    long[] given = divide(units, demands, weights);
    long all = Arrays.stream(weights).sum();
    long demand = Arrays.stream(demands).sum();
    // T1 and T3: all that is demanded, up to the units, and never more
    assertThat(Arrays.stream(given).sum()).isEqualTo(Math.min(units, demand));
    for (int i = 0; i < tenants; i++) {
      long guarantee = WeightedMaxMin.guarantee(weights[i], all, units);
      // T2
      assertThat(given[i]).isBetween(Math.min(demands[i], guarantee), demands[i]);
      for (int j = 0; j < i; j++) {
        if (given[i] < demands[i] && given[j] < demands[j]) {
          pairs++;
          assertWithinOneUnit(given[i], weights[i], given[j], weights[j]);
        }
      }
    }
    instances++;
    contested += demand > units ? 1 : 0;
  }

  /** T4: |a/v − b/w| ≤ 1/v + 1/w, multiplied by v · w. */
  private static void assertWithinOneUnit(long a, long v, long b, long w) {
    BigInteger difference = big(a).multiply(big(w)).subtract(big(b).multiply(big(v))).abs();
    assertThat(difference).isLessThanOrEqualTo(big(v).add(big(w)));
  }

  private static BigInteger big(long number) {
    return BigInteger.valueOf(number);
  }

  private static long[] divide(long units, long[] demands, long[] weights) {
    return WeightedMaxMin.divide(demands, weights, units);
  }

  private static long[] of(long... numbers) {
    return numbers;
  }
}
