package io.throttlekit.share;

import java.util.Arrays;

/**
 * Divides whole slots by demand, max-min fair.
 *
 * <p>Each id gets one slot; with fewer slots than ids, the first in order get one. If the slots do
 * not suffice for all demands, a level is found such that each id gets its demand, or the level if
 * it demands more. So an id gets at least the smaller of its demand and an equal share, whatever
 * the others demand: a division in proportion to demand would reward exaggerated demands. Slots
 * without demand are divided equally, so that an id whose demand begins has room.
 */
public final class DemandSplit {
  private DemandSplit() {}

  /**
   * Returns the share of each id; the sum is exactly {@code slots} unless there is no id.
   *
   * @param slots from 0
   * @param demands demand of each id, from 0 to 2^31; the order breaks ties
   */
  public static int[] of(int slots, long[] demands) {
    int[] shares = new int[demands.length];
    if (slots <= shares.length) {
      Arrays.fill(shares, 0, slots, 1);
      return shares;
    }
    long[] claims = new long[demands.length];
    Arrays.setAll(claims, i -> Math.max(1, demands[i]));
    long unclaimed = slots - Arrays.stream(claims).sum();
    if (unclaimed < 0) {
      return fill(shares, slots, claims);
    }
    for (int i = 0; i < shares.length; i++) {
      shares[i] =
          (int) (claims[i] + unclaimed / shares.length + (i < unclaimed % shares.length ? 1 : 0));
    }
    return shares;
  }

  /** Gives each its claim up to a level; the first ones above it take one more if slots remain. */
  private static int[] fill(int[] shares, int slots, long[] claims) {
    long[] ascending = claims.clone();
    Arrays.sort(ascending);
    int left = slots;
    int above = ascending.length;
    // An equal part of what is left only grows as smaller claims are met.
    for (int i = 0; ascending[i] <= left / above; i++) {
      left -= (int) ascending[i];
      above--;
    }
    int level = left / above;
    int extra = left % above;
    for (int i = 0; i < shares.length; i++) {
      boolean more = claims[i] > level && extra > 0;
      shares[i] = (int) Math.min(claims[i], level) + (more ? 1 : 0);
      extra -= more ? 1 : 0;
    }
    return shares;
  }
}
