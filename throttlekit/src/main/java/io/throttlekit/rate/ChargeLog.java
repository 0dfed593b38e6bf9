package io.throttlekit.rate;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

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

  /** Indexes and sizes are below this. */
  static final int MAX_CAPACITY = 1 << 21;

  private static final int SMALLEST = 8;
  private static final int GROWTH = 4;
  private static final VarHandle CLAIMED;

  static {
    try {
      CLAIMED = MethodHandles.lookup().findVarHandle(ChargeLog.class, "claimed", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Time and total of every entry, alternating. */
  private final long[] entries;

  private volatile int claimed;

  private ChargeLog(int capacity) {
    entries = new long[2 * capacity];
  }

  /** A log that begins with {@code size} pairs of a time and a total, and has room for more. */
  static ChargeLog of(long[] timesAndTotals, int size, int room) {
    ChargeLog log = new ChargeLog(size + room);
    System.arraycopy(timesAndTotals, 0, log.entries, 0, 2 * size);
    CLAIMED.set(log, size);
    return log;
  }

  long millis(int index) {
    return entries[2 * index];
  }

  /** Units charged up to and including entry {@code index}; 0 before the first. */
  long total(int index) {
    return index < 0 ? 0 : entries[2 * index + 1];
  }

  /**
   * Writes entry {@code index} unless another entry is there or beyond the end; says whether it is
   * there now. What a state that was given up has written serves the next one that writes the same.
   */
  boolean append(int index, long atMillis, long total) {
    if (2 * index >= entries.length) {
      return false;
    }
    if (CLAIMED.compareAndSet(this, index, index + 1)) {
      write(index, atMillis, total);
      return true;
    }
    return index < claimed && millis(index) == atMillis && total(index) == total;
  }

  /**
   * A log of the entries {@code from} to {@code to − 1} and one more, with totals less those before
   * {@code from}, and room for three times as many. The units of entries before {@code whole} are
   * kept as one entry, at the newest of their times.
   */
  ChargeLog copyOf(int from, int whole, int to, long newestMillis, long newestTotal) {
    long forgotten = total(from - 1);
    int first = Math.max(from, whole - 1);
    int size = to - first;
    ChargeLog copy = new ChargeLog(Math.clamp(GROWTH * (size + 1L), SMALLEST, MAX_CAPACITY - 1));
    for (int i = 0; i < size; i++) {
      copy.write(i, millis(first + i), total(first + i) - forgotten);
    }
    copy.write(size, newestMillis, newestTotal - forgotten);
    CLAIMED.set(copy, size + 1);
    return copy;
  }

  private void write(int index, long atMillis, long total) {
    entries[2 * index] = atMillis;
    entries[2 * index + 1] = total;
  }
}
