package io.throttlekit.store;

import io.throttlekit.CounterKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A lookup table in front of a cache, which avoids the cache's bookkeeping for recent keys.
 *
 * <p>Each key has two possible slots, by two hashes, and the neighbour of each; if all four are
 * full, the newest entry replaces the first. The 1st, 2nd, 4th, 8th … lookup of an entry, and every
 * 64th one, returns nothing, so that the request reaches the cache and its frequency statistics
 * stay useful. The table has two slots for each key of the cache: a table that fits into the
 * processor's cache is faster than one without collisions. Thread-safe. A retired entry may still
 * be found until a caller notices and drops it.
 *
 * @param <E> type of the entries
 */
public final class RecentKeys<E extends Keyed> {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Keyed[].class);
  private static final int MIN_SLOTS = 1 << 10; // a power of two, as slot() needs
  private static final int MAX_SLOTS = 1 << 18; // 1 MB of references
  private static final int SLOTS_PER_KEY = 2; // half full: most keys find one of their four free
  private static final int RENEW_EVERY = 64; // at the cost of 1.6 % of the lookups

  private volatile @Nullable Keyed[] slots = new @Nullable Keyed[MIN_SLOTS];

  /** Grows the table for a cache of so many keys. It never shrinks. */
  public void makeRoomFor(long keys) {
    if (slots.length < Math.min(MAX_SLOTS, keys * SLOTS_PER_KEY)) {
      grow(keys);
    }
  }

  /**
   * Returns the entry of {@code key}, or null if it is not here or the request must reach the
   * cache.
   */
  public @Nullable E find(CounterKey key) {
    @Nullable Keyed[] table = slots;
    Keyed found = in(table, first(table, key), key);
    if (found == null) {
      found = in(table, second(table, key), key);
      if (found == null) {
        return null;
      }
    }
    int lookups = found.lookups + 1;
    found.lookups = lookups; // a lost update only delays a request to the cache
    boolean renews = lookups % RENEW_EVERY == 0 || (lookups & (lookups - 1)) == 0;
    return renews ? null : known(found);
  }

  /** Safe: only entries passed to {@link #put} are in the table. */
  @SuppressWarnings("unchecked")
  private E known(Keyed found) {
    return (E) found;
  }

  /**
   * Adds an entry. If it retires at the same time, it is dropped by this thread or by the other.
   */
  public void put(E newest) {
    put(slots, newest);
    if (newest.isRetired()) {
      drop(newest.key());
    }
  }

  /** Drops the entry of {@code key}. */
  public void drop(CounterKey key) {
    @Nullable Keyed[] table = slots;
    drop(table, first(table, key), key);
    drop(table, second(table, key), key);
  }

  /**
   * Grows the table. Concurrent puts and drops may be lost or undone, which is harmless: callers
   * check for retired entries, and missing ones are looked up in the cache.
   */
  private synchronized void grow(long keys) {
    @Nullable Keyed[] before = slots;
    int length = before.length;
    while (length < Math.min(MAX_SLOTS, keys * SLOTS_PER_KEY)) {
      length *= 2;
    }
    if (length == before.length) {
      return;
    }
    @Nullable Keyed[] table = new @Nullable Keyed[length];
    for (int slot = 0; slot < before.length; slot++) {
      Keyed keyed = at(before, slot);
      if (keyed != null) {
        put(table, keyed);
      }
    }
    slots = table;
  }

  @SuppressWarnings("ReferenceEquality") // an entry with the same key may be there, and be retired
  private static void put(@Nullable Keyed[] table, Keyed keyed) {
    int first = first(table, keyed.key());
    int second = second(table, keyed.key());
    if (in(table, first, keyed.key()) == keyed || in(table, second, keyed.key()) == keyed) {
      return;
    }
    int free = free(table, first);
    if (free < 0) {
      free = free(table, second);
    }
    if (free < 0) {
      SLOT.setRelease(table, neighbour(first), at(table, first));
      free = first;
    }
    SLOT.setVolatile(table, free, keyed);
  }

  private static @Nullable Keyed in(@Nullable Keyed[] table, int slot, CounterKey key) {
    Keyed keyed = at(table, slot);
    if (isFor(key, keyed)) {
      return keyed;
    }
    keyed = at(table, neighbour(slot));
    return isFor(key, keyed) ? keyed : null;
  }

  /** Returns the slot or its neighbour if its entry may be replaced; below 0 if neither. */
  private static int free(@Nullable Keyed[] table, int slot) {
    if (isFree(at(table, slot))) {
      return slot;
    }
    return isFree(at(table, neighbour(slot))) ? neighbour(slot) : -1;
  }

  private static boolean isFree(@Nullable Keyed keyed) {
    return keyed == null || keyed.isRetired();
  }

  private static void drop(@Nullable Keyed[] table, int slot, CounterKey key) {
    for (int at : new int[] {slot, neighbour(slot)}) {
      if (isFor(key, at(table, at))) {
        SLOT.setRelease(table, at, (Keyed) null);
      }
    }
  }

  private static boolean isFor(CounterKey key, @Nullable Keyed keyed) {
    return keyed != null
        && key.lowHash() == keyed.lowHash
        && key.highHash() == keyed.highHash
        && key.scope().equals(keyed.scope);
  }

  private static @Nullable Keyed at(@Nullable Keyed[] table, int slot) {
    return (Keyed) SLOT.getAcquire(table, slot);
  }

  private static int first(@Nullable Keyed[] table, CounterKey key) {
    return slot(table, key.hashCode());
  }

  private static int second(@Nullable Keyed[] table, CounterKey key) {
    return slot(table, key.hashCode() ^ (int) key.highHash());
  }

  private static int slot(@Nullable Keyed[] table, int hash) {
    return hash & (table.length - 1);
  }

  /** Returns the other slot of the pair that is adjacent in memory. */
  private static int neighbour(int slot) {
    return slot ^ 1;
  }
}
