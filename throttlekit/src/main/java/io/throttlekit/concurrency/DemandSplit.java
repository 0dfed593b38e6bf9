package io.throttlekit.concurrency;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Divides whole slots by demand.
 *
 * <p>Each id gets one slot; with fewer slots than ids, the first in order get one. The remaining
 * slots cover what each demands beyond its first: in proportion and by the largest remainder if
 * they do not suffice. Slots without demand are divided equally, so that an id whose demand begins
 * has room.
 */
final class DemandSplit {
  private DemandSplit() {}

  /**
   * Returns the share of each id; the sum is exactly {@code slots} unless there is no id.
   *
   * @param slots from 0
   * @param wants demand of each id, from 0 to 2^31; the order breaks ties
   */
  static int[] of(int slots, long[] wants) {
    int[] shares = new int[wants.length];
    if (slots <= shares.length) {
      Arrays.fill(shares, 0, slots, 1);
      return shares;
    }
    Arrays.fill(shares, 1);
    long left = (long) slots - shares.length;
    long wanted = 0;
    for (long want : wants) {
      wanted += beyondOne(want);
    }
    return wanted > left ? inProportion(shares, left, wants, wanted) : spread(shares, left, wants);
  }

  private static int[] inProportion(int[] shares, long left, long[] wants, long wanted) {
    long given = 0;
    long[] remainders = new long[wants.length];
    for (int i = 0; i < shares.length; i++) {
      long product = left * beyondOne(wants[i]); // at most 2^31 · 2^31, so no overflow
      shares[i] += (int) (product / wanted);
      given += product / wanted;
      remainders[i] = product % wanted;
    }
    IntStream.range(0, shares.length)
        .boxed()
        .sorted(Comparator.comparingLong((Integer i) -> -remainders[i]))
        .limit(left - given)
        .forEach(i -> shares[i]++);
    return shares;
  }

  private static int[] spread(int[] shares, long left, long[] wants) {
    long unwanted = left;
    for (int i = 0; i < shares.length; i++) {
      shares[i] += (int) beyondOne(wants[i]);
      unwanted -= beyondOne(wants[i]);
    }
    for (int i = 0; i < shares.length; i++) {
      shares[i] += (int) (unwanted / shares.length + (i < unwanted % shares.length ? 1 : 0));
    }
    return shares;
  }

  private static long beyondOne(long want) {
    return Math.max(0, want - 1);
  }
}
