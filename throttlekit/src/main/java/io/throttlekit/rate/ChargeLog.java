package io.throttlekit.rate;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Times and running totals of charges, in a buffer that many states share.
 *
 * <p>An entry is written once and never again: of the states that end at the same place, one may
 * claim the next entry, and the others copy. So a state never sees a change, and appending costs no
 * copy as long as history does not fork. Safe for use by several threads when the state that refers
 * to an entry is published safely.
 */
final class ChargeLog {
  /** A log with room for nothing. */
  static final ChargeLog EMPTY = new ChargeLog(0);

  private static final int SMALLEST = 8;

  private final long[] millis;
  private final long[] totals;
  private final AtomicInteger claimed;

  private ChargeLog(int capacity) {
    millis = new long[capacity];
    totals = new long[capacity];
    claimed = new AtomicInteger();
  }

  long millis(int index) {
    return millis[index];
  }

  long total(int index) {
    return totals[index];
  }

  /** Writes entry {@code index} unless it is taken or beyond the end; says whether it did. */
  boolean append(int index, long atMillis, long total) {
    if (index >= millis.length || !claimed.compareAndSet(index, index + 1)) {
      return false;
    }
    millis[index] = atMillis;
    totals[index] = total;
    return true;
  }

  /**
   * A log of the entries {@code from} to {@code to − 1} and one more, with totals less {@code
   * forgotten} and room for as many again.
   */
  ChargeLog copyOf(int from, int to, long forgotten, long newestMillis, long newestTotal) {
    int size = to - from;
    ChargeLog copy = new ChargeLog(Math.max(SMALLEST, 2 * (size + 1)));
    System.arraycopy(millis, from, copy.millis, 0, size);
    Arrays.setAll(copy.totals, i -> i < size ? totals[from + i] - forgotten : 0);
    copy.millis[size] = newestMillis;
    copy.totals[size] = newestTotal;
    copy.claimed.setPlain(size + 1);
    return copy;
  }
}
