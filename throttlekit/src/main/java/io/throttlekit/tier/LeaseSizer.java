package io.throttlekit.tier;

/**
 * Decides how many units a node asks for in its next lease of one counter.
 *
 * <p>Whatever it answers, no window admits more than it should: the store grants only what is left,
 * and a lease ends with its window. A size only trades round trips to the store (small ones)
 * against units that lie leased and unused on one node while another has to refuse (large ones).
 *
 * <p>One sizer belongs to one counter on one node; not thread-safe, the counter's cell guards it.
 */
public interface LeaseSizer {

  /**
   * How many units to ask for next.
   *
   * @param offered units that requests of this node wanted in this window so far, admitted and
   *     refused alike, without those that the lease is for
   * @param limit of the window, from 1
   * @return from 1 to {@code limit}
   */
  long size(long offered, long limit);

  /**
   * Learns from a window that is over.
   *
   * @param demand units that requests of this node wanted in it, admitted and refused alike; 0
   *     teaches nothing, because a window in which nothing is leased costs the same with any size
   * @param limit of that window, from 1: more than that could not have been leased
   */
  void observe(long demand, long limit);

  /** Whether demand makes a difference to it at all. */
  default boolean learns() {
    return true;
  }

  /**
   * The sizer of a rule for a counter that this node has not seen before.
   *
   * @param limit of the window, from 1
   */
  static LeaseSizer of(LeaseSize size, long limit) {
    return switch (size) {
      case LeaseSize.Fixed(long units) -> new FixedSizer(units);
      case LeaseSize.Adaptive() -> new EoqSizer(LeaseCost.DEFAULT, limit);
      case LeaseSize.Predictive() -> new PredictiveSizer(LeaseCost.DEFAULT, limit);
    };
  }
}
