package io.throttlekit.store;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps calls by their deadlines, which may come in any order.
 *
 * <p>A hashed timing wheel (Varghese and Lauck, 1987): a bucket for each tick of 2^20 ns (1.05 ms),
 * used again after 1,024 ticks; what ends in a later round stays in its bucket. Each bucket is a
 * list through the entries themselves, so adding and removing take constant time and no memory.
 *
 * <p>Not thread-safe.
 *
 * @param <E> what has a deadline; in one wheel at a time
 */
public final class DeadlineWheel<E extends DeadlineWheel.Entry> {
  private static final int TICK_BITS = 20;
  private static final int BUCKETS = 1024;

  private final @Nullable Entry[] buckets = new @Nullable Entry[BUCKETS];

  /** Ends of earlier ticks are over: what was due by them is no longer here. */
  private long tick;

  private int size;

  /** Something with a deadline. Its fields belong to the wheel that it is in. */
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

  /** Returns how many entries are here. */
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

  /** Removes an entry; does nothing if it is not here any more. */
  public void remove(E entry) {
    Entry removed = entry; // its fields are private to Entry, which E is not
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
   * Returns when {@link #expire} is to be called next, by the monotonic clock: at most a tick after
   * the earliest deadline, or before it where that is in a later round. Meaningless while it is
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
   * Removes every entry whose deadline is over by {@code nowNanos}, at most a tick late, and hands
   * it to {@code late}, which may add and remove others.
   */
  public void expire(long nowNanos, Consumer<? super E> late) {
    long to = nowNanos >> TICK_BITS;
    long from = Math.max(tick + 1, to - BUCKETS + 1); // once around is everything
    if (to <= tick) {
      return;
    }
    tick = to;
    for (long due = from; due <= to; due++) {
      expireBucket(bucketOf(due), to, late);
    }
  }

  private void expireBucket(int bucket, long to, Consumer<? super E> late) {
    Entry over = takeDue(bucket, to); // first: the list may change while others learn of it
    while (over != null) {
      Entry rest = over.next;
      over.next = null;
      @SuppressWarnings("unchecked") // only E are added
      E entry = (E) over;
      late.accept(entry);
      over = rest;
    }
  }

  /** Removes what is due and returns it as a list, the earliest added first. */
  private @Nullable Entry takeDue(int bucket, long to) {
    Entry taken = null;
    Entry entry = buckets[bucket];
    while (entry != null) {
      Entry next = entry.next;
      if (entry.dueTick - to <= 0) {
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
