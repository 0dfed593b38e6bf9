package io.throttlekit.store;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Entries sorted by deadline, with deadlines added in any order.
 *
 * <p>A hashed timing wheel (Varghese and Lauck, 1987) with one bucket per tick of 2^20 ns (1.05
 * ms), reused after 1,024 ticks; entries of later rounds stay in their bucket. A bucket is a list
 * through the entries themselves, so adding and removing take constant time and no memory.
 *
 * <p>Not thread-safe.
 *
 * @param <E> entries with a deadline, in one wheel at a time
 */
public final class DeadlineWheel<E extends DeadlineWheel.Entry> {
  private static final int TICK_BITS = 20; // 1.05 ms, without a division

  /** The time by which an entry may expire late. */
  public static final long TICK_NANOS = 1L << TICK_BITS;

  private static final int BUCKETS = 1024; // a power of two, for the mask

  private final @Nullable Entry[] buckets = new @Nullable Entry[BUCKETS];

  /** The last expired tick: entries due by its end have been removed. */
  private long tick;

  private int size;

  /** An entry with a deadline. Its fields belong to the wheel that contains it. */
  public abstract static class Entry {
    private @Nullable Entry next;
    private @Nullable Entry previous;
    private long dueTick;
    private boolean linked;
  }

  /**
   * Creates an empty wheel.
   *
   * @param nowNanos the monotonic clock
   */
  public DeadlineWheel(long nowNanos) {
    this.tick = nowNanos >> TICK_BITS;
  }

  /** Returns the number of entries. */
  public int size() {
    return size;
  }

  /**
   * Adds an entry that is in no wheel.
   *
   * @param deadlineNanos by the monotonic clock, less than 2^62 ns away
   */
  public void add(E entry, long deadlineNanos) {
    Entry added = entry;
    // Rounded up, so no entry expires early. An overdue entry waits for the next tick: its bucket
    // was swept.
    added.dueTick = Math.max(tick + 1, (deadlineNanos >> TICK_BITS) + 1);
    added.linked = true;
    int bucket = bucketOf(added.dueTick);
    Entry first = buckets[bucket];
    added.next = first;
    if (first != null) {
      first.previous = added;
    }
    buckets[bucket] = added;
    size++;
  }

  /** Removes an entry; has no effect if it is not in the wheel. */
  public void remove(E entry) {
    Entry removed = entry; // private fields of Entry are not visible through E
    if (removed.linked) {
      unlink(removed);
    }
  }

  private void unlink(Entry removed) {
    Entry before = removed.previous;
    Entry after = removed.next;
    if (before == null) {
      buckets[bucketOf(removed.dueTick)] = after;
    } else {
      before.next = after;
    }
    if (after != null) {
      after.previous = before;
    }
    removed.next = null;
    removed.previous = null;
    removed.linked = false;
    size--;
  }

  /**
   * Returns when {@link #expire} has to be called next, by the monotonic clock: at most a tick
   * after the earliest deadline, or earlier if that entry is in a later round. Undefined while
   * empty.
   */
  public long nextNanos() {
    long next = tick + 1;
    while (next < tick + BUCKETS && buckets[bucketOf(next)] == null) {
      next++;
    }
    return next << TICK_BITS;
  }

  /**
   * Removes every entry whose deadline is over by {@code nowNanos}, at most a tick late, and passes
   * it to {@code late}, which may add and remove entries.
   */
  public void expire(long nowNanos, Consumer<? super E> late) {
    long to = nowNanos >> TICK_BITS;
    long from = Math.max(tick + 1, to - BUCKETS + 1); // one round visits every bucket
    if (to <= tick) { // this tick has been swept
      return;
    }
    tick = to; // first: entries that the callback adds are due in a later tick
    for (long due = from; due <= to; due++) {
      expireBucket(bucketOf(due), to, late);
    }
  }

  private void expireBucket(int bucket, long to, Consumer<? super E> late) {
    Entry over = takeDue(bucket, to); // first, because the callback may change the list
    while (over != null) {
      Entry rest = over.next;
      over.next = null;
      @SuppressWarnings("unchecked") // only E are added
      E entry = (E) over;
      late.accept(entry);
      over = rest;
    }
  }

  /** Removes the due entries of a bucket and returns them as a list, the earliest added first. */
  private @Nullable Entry takeDue(int bucket, long to) {
    Entry taken = null;
    Entry entry = buckets[bucket];
    while (entry != null) {
      Entry next = entry.next;
      if (entry.dueTick - to <= 0) { // by difference: the clock may overflow
        unlink(entry);
        entry.next = taken;
        taken = entry;
      }
      entry = next;
    }
    return taken;
  }

  private static int bucketOf(long tick) {
    return (int) tick & (BUCKETS - 1);
  }
}
