package io.throttlekit.lease.sizing;

/**
 * Decides how many units a node requests in its next lease of one counter.
 *
 * <p>The size never affects how much a window admits: the store grants only what is left, and a
 * lease expires with its window. It only trades round trips to the store (small sizes) against
 * units that lie unused on one node while another node refuses (large sizes).
 *
 * <p>A sizer belongs to one counter on one node. Not thread-safe; guarded by the counter's cell.
 */
public interface LeaseSizer {

  /**
   * Returns how many units to request next.
   *
   * @param offered units that this node's requests wanted in this window so far, admitted and
   *     refused alike, without the units that the lease is for
   * @param limit of the window, from 1
   * @return from 1 to {@code limit}
   */
  long size(long offered, long limit);

  /**
   * Learns from a window that has ended.
   *
   * @param demand units that this node's requests wanted in it, admitted and refused alike; 0
   *     changes nothing, because a window without leases costs the same with any size
   * @param limit of that window, from 1; more could not have been leased
   */
  void observe(long demand, long limit);

  /** Returns whether the sizer uses demand at all. */
  default boolean learns() {
    return true;
  }

  /**
   * Creates the sizer of a rule for a counter that is new to this node.
   *
   * @param limit of the window, from 1
   */
  static LeaseSizer of(LeaseSize size, long limit) {
    return switch (size) {
      case LeaseSize.Fixed fixed -> fixed;
      case LeaseSize.Adaptive() -> new EoqSizer(LeaseCost.DEFAULT, limit);
      case LeaseSize.Predictive() -> new PredictiveSizer(LeaseCost.DEFAULT, limit);
    };
  }
}
