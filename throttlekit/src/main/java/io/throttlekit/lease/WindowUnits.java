package io.throttlekit.lease;

import io.throttlekit.store.LeaseGrant;

/** The units of one window in this process. Not thread-safe; guarded by its cell. */
final class WindowUnits {
  private long units;
  private long spent;
  private long left;
  private boolean granted;
  private boolean exhausted;
  private long retryNanos;

  private int refusals;

  long units() {
    return units;
  }

  /** Returns the units here plus those that were left for others at the last answer. */
  long remaining() {
    return units + left;
  }

  /** Returns whether a lease was ever answered, even without units. */
  boolean isGranted() {
    return granted;
  }

  /** Returns whether nothing was left and a retry is not yet due. */
  boolean isExhausted(long now) {
    if (exhausted && now - retryNanos >= 0) {
      exhausted = false;
    }
    return exhausted;
  }

  void reopen() {
    exhausted = false;
  }

  /** Returns the number of grants without units, since the last one with some. */
  int refusals() {
    return refusals;
  }

  /** Sets when an exhausted source gets the next request. */
  void retryAt(long nanos) {
    retryNanos = nanos;
  }

  void credit(LeaseGrant leased) {
    granted = true;
    units += leased.units();
    // An escrow does not report what is left.
    if (leased.left() != LeaseGrant.UNKNOWN) {
      left = leased.left();
      exhausted = left == 0 || leased.units() == 0;
      refusals = leased.units() == 0 ? refusals + 1 : 0;
    }
  }

  void spend(long cost) {
    units -= cost;
    spent += cost;
  }

  void putBack(long cost) {
    units += cost;
    spent -= cost;
  }

  /** Refunds up to {@code cost}, but at most what was spent here. */
  void refund(long cost) {
    putBack(Math.min(cost, spent));
  }

  long takeAll() {
    long all = units;
    units = 0;
    return all;
  }

  @Override
  public String toString() {
    return "%d units, %d spent, %d left%s%s"
        .formatted(units, spent, left, granted ? "" : ", unknown", exhausted ? ", used up" : "");
  }
}
