package io.throttlekit.recent;

import io.throttlekit.CounterKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What was asked for lately of a cache, found without the bookkeeping of the cache.
 *
 * <p>Each key has its place in one of two slots, by two hashes, or in a neighbour of one of them;
 * where all four are full, what came last takes the first. A look-up leaves out what the cache
 * should hear of: at its 1st, 2nd, 4th, 8th … request, and at every 64th afterwards, so that the
 * cache still knows what is asked for often. There are a few slots for each key of the cache, not
 * more: a table that stays in the processor's cache is worth more than one without collisions.
 * Thread-safe; what has retired may still be found here until someone notices and drops it.
 *
 * @param <E> what is looked up
 */
public final class RecentlyAsked<E extends Keyed> {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Keyed[].class);
  private static final int FEWEST_SLOTS = 1 << 10;
  private static final int MOST_SLOTS = 1 << 18;
  private static final int SLOTS_PER_KEY = 2;
  private static final int HEARD_EVERY = 64;

  private volatile @Nullable Keyed[] slots = new @Nullable Keyed[FEWEST_SLOTS];

  /** Makes room for a cache of so many keys; there is never less room again. */
  public void makeRoomFor(long keys) {
    if (slots.length < Math.min(MOST_SLOTS, keys * SLOTS_PER_KEY)) {
      grow(keys);
    }
  }

  /** What belongs to {@code key}; null when it is not here, or when the cache should hear of it. */
  public @Nullable E find(CounterKey key) {
    @Nullable Keyed[] table = slots;
    Keyed found = in(table, first(table, key), key);
    if (found == null) {
      found = in(table, second(table, key), key);
      if (found == null) {
        return null;
      }
    }
    int asked = found.asked + 1;
    found.asked = asked; // a lost update is a request that the cache hears of later
    boolean heard = asked % HEARD_EVERY == 0 || (asked & (asked - 1)) == 0;
    return heard ? null : known(found);
  }

  /** Only what was put here is found here. */
  @SuppressWarnings("unchecked")
  private E known(Keyed found) {
    return (E) found;
  }

  /** What retires meanwhile is not kept: one of the two sees what the other did. */
  public void put(E newest) {
    put(slots, newest);
    if (newest.isRetired()) {
      drop(newest.key());
    }
  }

  /** Drops what belongs to {@code key}. */
  public void drop(CounterKey key) {
    @Nullable Keyed[] table = slots;
    drop(table, first(table, key), key);
    drop(table, second(table, key), key);
  }

  /**
   * What is put or dropped meanwhile may be lost or come back: no harm to a table of the recent.
   */
  private synchronized void grow(long keys) {
    @Nullable Keyed[] before = slots;
    int length = before.length;
    while (length < Math.min(MOST_SLOTS, keys * SLOTS_PER_KEY)) {
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

  @SuppressWarnings("ReferenceEquality") // another with this key may be there, and has retired
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
    if (keyed != null && keyed.isFor(key)) {
      return keyed;
    }
    keyed = at(table, neighbour(slot));
    return keyed != null && keyed.isFor(key) ? keyed : null;
  }

  /** The slot or its neighbour if nobody would miss what is there; below 0 when neither. */
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
      Keyed keyed = at(table, at);
      if (keyed != null && keyed.isFor(key)) {
        SLOT.setRelease(table, at, (Keyed) null);
      }
    }
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

  /** The other slot of two that lie together in memory. */
  private static int neighbour(int slot) {
    return slot ^ 1;
  }
}
