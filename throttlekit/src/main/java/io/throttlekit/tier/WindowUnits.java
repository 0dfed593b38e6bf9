package io.throttlekit.tier;

/** What a process has of one window. Not thread-safe; its cell guards it. */
final class WindowUnits {
  private long units;
  private long spent;
  private long left;
  private boolean granted;
  private boolean exhausted;
  private long askAgainNanos;

  long units() {
    return units;
  }

  /** What this process has and what others had left when it asked last. */
  long remaining() {
    return units + left;
  }

  /** Whether anything was ever asked for and answered, were it with nothing. */
  boolean isGranted() {
    return granted;
  }

  /** Whether there was nothing left, and it is no time to ask again. */
  boolean isExhausted(long now) {
    if (exhausted && now - askAgainNanos >= 0) {
      exhausted = false;
    }
    return exhausted;
  }

  void reopen() {
    exhausted = false;
  }

  void credit(LeasedUnits leased, long askAgain) {
    granted = true;
    units += leased.units();
    if (leased.left() != LeasedUnits.UNKNOWN) {
      left = leased.left();
      exhausted = left == 0 || leased.units() == 0;
      askAgainNanos = askAgain;
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

  /** Takes back of {@code cost} what was spent here. */
  void refund(long cost) {
    putBack(Math.min(cost, spent));
  }

  long takeAll() {
    long all = units;
    units = 0;
    return all;
  }

  /** Makes this a window that nobody has asked for yet. */
  void clear() {
    units = 0;
    spent = 0;
    left = 0;
    granted = false;
    exhausted = false;
  }

  @Override
  public String toString() {
    return "%d units, %d spent, %d left%s%s"
        .formatted(units, spent, left, granted ? "" : ", unknown", exhausted ? ", used up" : "");
  }
}
