package io.throttlekit.store;

import io.throttlekit.CounterKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Counters that were asked for lately, found without the bookkeeping of the cache.
 *
 * <p>Each counter has its place in one of two slots, by two hashes, or in a neighbour of one of
 * them; where all four are full, the counter that came last takes the first. A look-up leaves out a
 * counter that the cache should hear of: at its 1st, 2nd, 4th, 8th … request, at every 64th
 * afterwards, so that the cache still knows what is asked for often, and when its time in the cache
 * may be up. There are a few slots for each counter of the store, not more: a table that stays in
 * the processor's cache is worth more than one without collisions. Thread-safe; a retired counter
 * may still be found here until someone notices and drops it.
 */
final class RecentCounters {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Counter[].class);
  private static final int FEWEST_SLOTS = 1 << 10;
  private static final int MOST_SLOTS = 1 << 18;
  private static final int SLOTS_PER_COUNTER = 2;
  private static final int HEARD_EVERY = 64;

  /** Nearer to the end of its time in the cache than this, a counter is looked up there. */
  private static final long CACHE_DECIDES_MILLIS = 500;

  private volatile @Nullable Counter[] slots = new @Nullable Counter[FEWEST_SLOTS];

  /** Makes room for a store of so many counters; there is never less room again. */
  void makeRoomFor(long counters) {
    if (slots.length < Math.min(MOST_SLOTS, counters * SLOTS_PER_COUNTER)) {
      grow(counters);
    }
  }

  @Nullable Counter find(CounterKey key, long nowMillis) {
    @Nullable Counter[] table = slots;
    Counter counter = in(table, first(table, key), key);
    if (counter == null) {
      counter = in(table, second(table, key), key);
      if (counter == null) {
        return null;
      }
    }
    int asked = counter.asked + 1;
    counter.asked = asked; // a lost update is a request that the cache hears of later
    boolean heard = asked % HEARD_EVERY == 0 || (asked & (asked - 1)) == 0;
    boolean due = nowMillis >= counter.keptUntilMillis() - CACHE_DECIDES_MILLIS;
    return heard || due ? null : counter;
  }

  /** A counter that retires meanwhile is not kept: one of the two sees what the other did. */
  void put(Counter counter) {
    put(slots, counter);
    if (counter.isRetired()) {
      drop(counter.key);
    }
  }

  /** Drops the counter of {@code key}. */
  void drop(CounterKey key) {
    @Nullable Counter[] table = slots;
    drop(table, first(table, key), key);
    drop(table, second(table, key), key);
  }

  /**
   * What is put or dropped meanwhile may be lost or come back: no harm to a table of the recent.
   */
  private synchronized void grow(long counters) {
    @Nullable Counter[] before = slots;
    int length = before.length;
    while (length < Math.min(MOST_SLOTS, counters * SLOTS_PER_COUNTER)) {
      length *= 2;
    }
    if (length == before.length) {
      return;
    }
    @Nullable Counter[] table = new @Nullable Counter[length];
    for (int slot = 0; slot < before.length; slot++) {
      Counter counter = at(before, slot);
      if (counter != null) {
        put(table, counter);
      }
    }
    slots = table;
  }

  private static void put(@Nullable Counter[] table, Counter counter) {
    int first = first(table, counter.key);
    int second = second(table, counter.key);
    if (in(table, first, counter.key) == counter || in(table, second, counter.key) == counter) {
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
    SLOT.setVolatile(table, free, counter);
  }

  private static @Nullable Counter in(@Nullable Counter[] table, int slot, CounterKey key) {
    Counter counter = at(table, slot);
    if (counter != null && counter.isFor(key)) {
      return counter;
    }
    counter = at(table, neighbour(slot));
    return counter != null && counter.isFor(key) ? counter : null;
  }

  /** The slot or its neighbour if nobody would miss what is there; below 0 when neither. */
  private static int free(@Nullable Counter[] table, int slot) {
    if (isFree(at(table, slot))) {
      return slot;
    }
    return isFree(at(table, neighbour(slot))) ? neighbour(slot) : -1;
  }

  private static boolean isFree(@Nullable Counter counter) {
    return counter == null || counter.isRetired();
  }

  private static void drop(@Nullable Counter[] table, int slot, CounterKey key) {
    for (int at : new int[] {slot, neighbour(slot)}) {
      Counter counter = at(table, at);
      if (counter != null && counter.isFor(key)) {
        SLOT.setRelease(table, at, (Counter) null);
      }
    }
  }

  private static @Nullable Counter at(@Nullable Counter[] table, int slot) {
    return (Counter) SLOT.getAcquire(table, slot);
  }

  private static int first(@Nullable Counter[] table, CounterKey key) {
    return slot(table, key.hashCode());
  }

  private static int second(@Nullable Counter[] table, CounterKey key) {
    return slot(table, key.hashCode() ^ (int) key.highHash());
  }

  private static int slot(@Nullable Counter[] table, int hash) {
    return hash & (table.length - 1);
  }

  /** The other slot of two that lie together in memory. */
  private static int neighbour(int slot) {
    return slot ^ 1;
  }
}
