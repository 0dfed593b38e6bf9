package io.throttlekit.fairness;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * Weighted max-min fair division of whole units when all demands are known: the ideal that a pool,
 * which sees one request at a time, is measured by.
 *
 * <p>A level is raised until the units are used up, and each tenant has the smaller of its demand
 * and its weight times the level, rounded down. The few units that rounding leaves go one at a time
 * to the tenant that has least for its weight and wants more.
 *
 * <p>This is not the same as giving all units one at a time by that rule: among many small weights
 * a large one would then end below its guarantee.
 */
public final class WeightedMaxMin {
  private WeightedMaxMin() {}

  /**
   * Returns the units of each tenant. Their sum is the smaller of {@code units} and all demands.
   *
   * @param demands from 0 to 2^53 each; the order breaks ties
   * @param weights from 1 to {@link TenantWeight#MAX} each
   * @param units from 0 to 2^53
   */
  public static long[] divide(long[] demands, long[] weights, long units) {
    if (demands.length != weights.length) {
      throw new IllegalArgumentException(
          "%d demands of %d weights".formatted(demands.length, weights.length));
    }
    long[] given = new long[demands.length];
    // By demand / weight, multiplied crosswise: in this order demands are met as the level rises.
    int[] order =
        IntStream.range(0, demands.length)
            .boxed()
            .sorted((i, j) -> Products.compare(demands[i], weights[j], demands[j], weights[i]))
            .mapToInt(i -> i)
            .toArray();
    long left = units;
    long among = 0;
    for (long weight : weights) {
      among += weight;
    }
    int met = 0;
    for (; met < order.length; met++) {
      int next = order[met];
      if (Products.compare(weights[next], left, demands[next], among) < 0) {
        break; // the level left / among stays below what this one and the others demand
      }
      given[next] = demands[next];
      left -= demands[next];
      among -= weights[next];
    }
    long rest = left;
    for (int i = met; i < order.length; i++) {
      given[order[i]] = Products.quotient(weights[order[i]], left, among);
      rest -= given[order[i]];
    }
    if (met < order.length) {
      giveRest(given, demands, weights, rest);
    }
    return given;
  }

  private static void giveRest(long[] given, long[] demands, long[] weights, long rest) {
    Comparator<Integer> least =
        (i, j) -> Products.compare(given[i], weights[j], given[j], weights[i]);
    PriorityQueue<Integer> wanting = new PriorityQueue<>(least.thenComparing(i -> i));
    for (int i = 0; i < given.length; i++) {
      if (given[i] < demands[i]) {
        wanting.add(i);
      }
    }
    for (long i = 0; i < rest; i++) {
      Integer next = wanting.remove();
      given[next]++;
      if (given[next] < demands[next]) {
        wanting.add(next);
      }
    }
  }

  /**
   * Returns what a weight is guaranteed: ⌊weight · units / all⌋, multiplied before it is divided.
   */
  public static long guarantee(long weight, long allWeights, long units) {
    return Products.quotient(weight, units, allWeights);
  }
}
