package io.throttlekit.rate;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A buffer of charge times and running totals that many states share.
 *
 * <p>An entry is written once and never changed. Of the states that end at the same entry, one may
 * claim the next entry; the others copy the log. States are therefore immutable, and appending
 * needs no copy unless the history forks. Thread-safe if the state that refers to an entry is
 * published safely.
 */
final class ChargeLog {
  /** The empty log without capacity. */
  static final ChargeLog EMPTY = new ChargeLog(0);

  /** The exclusive upper bound of indexes and sizes. */
  static final int MAX_CAPACITY = 1 << 21;

  private static final int MIN_CAPACITY = 8; // entries, 128 bytes
  private static final int GROWTH = 4; // a copy is amortized over three times its entries
  private static final AtomicIntegerFieldUpdater<ChargeLog> CLAIMED = // no object per log
      AtomicIntegerFieldUpdater.newUpdater(ChargeLog.class, "claimed");

  /** Time and running total of each entry, alternating. */
  private final long[] entries;

  private volatile int claimed;

  private ChargeLog(int capacity) {
    entries = new long[2 * capacity];
  }

  /** Creates a log of {@code size} pairs of time and total, with capacity for {@code room} more. */
  static ChargeLog of(long[] timesAndTotals, int size, int room) {
    ChargeLog log = new ChargeLog(size + room);
    System.arraycopy(timesAndTotals, 0, log.entries, 0, 2 * size);
    CLAIMED.lazySet(log, size);
    return log;
  }

  long millis(int index) {
    return entries[2 * index];
  }

  /** Returns the units charged up to and including entry {@code index}; 0 before the first. */
  long total(int index) {
    return index < 0 ? 0 : entries[2 * index + 1];
  }

  /**
   * Writes entry {@code index} unless another entry is there or it is beyond the capacity. Returns
   * whether the entry is there. An entry written by a discarded state serves the next state that
   * writes the same.
   */
  boolean append(int index, long atMillis, long total) {
    // Cannot overflow: indexes are below 2^21.
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
   * Copies the entries {@code from} to {@code to − 1} and appends one, with totals relative to
   * {@code from}, and capacity for three times as many. Entries before {@code whole} are merged
   * into one entry with the newest of their times.
   */
  ChargeLog copyOf(int from, int whole, int to, long newestMillis, long newestTotal) {
    long forgotten = total(from - 1);
    int first = Math.max(from, whole - 1);
    int size = to - first;
    ChargeLog copy =
        new ChargeLog(Math.clamp(GROWTH * (size + 1L), MIN_CAPACITY, MAX_CAPACITY - 1));
    for (int i = 0; i < size; i++) {
      copy.write(i, millis(first + i), total(first + i) - forgotten);
    }
    copy.write(size, newestMillis, newestTotal - forgotten);
    CLAIMED.lazySet(copy, size + 1); // a lazy write suffices: the log is not yet published
    return copy;
  }

  private void write(int index, long atMillis, long total) {
    entries[2 * index] = atMillis;
    entries[2 * index + 1] = total;
  }
}
