package io.throttlekit.store;

import io.throttlekit.CounterKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Counters that were asked for lately, found without the bookkeeping of the cache.
 *
 * <p>Two slots next to each other for a hash, the counter that came last takes the first. A look-up
 * leaves out a counter that the cache should hear of: at its first requests, at every 16th
 * afterwards, so that the cache still knows what is asked for often, and when its time in the cache
 * may be up. Thread-safe; a retired counter may still be found here until someone notices and drops
 * it.
 */
final class RecentCounters {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Counter[].class);
  private static final int MAX_SLOTS = 1 << 16;
  private static final int ALWAYS_HEARD = 16;

  /** Nearer to the end of its time in the cache than this, a counter is looked up there. */
  private static final long CACHE_DECIDES_MILLIS = 500;

  private final @Nullable Counter[] slots;

  RecentCounters(long maxCounters) {
    long wanted = Math.min(MAX_SLOTS, Math.max(1, maxCounters) * 4);
    slots = new @Nullable Counter[Integer.highestOneBit((int) wanted)];
  }

  @Nullable Counter find(CounterKey key, long nowMillis) {
    int slot = slot(key);
    Counter counter = at(slot);
    if (counter == null || !counter.isFor(key)) {
      counter = at(slot ^ 1);
      if (counter == null || !counter.isFor(key)) {
        return null;
      }
    }
    int asked = ++counter.asked; // a lost update is a request that the cache hears of later
    boolean heard = asked < ALWAYS_HEARD || asked % ALWAYS_HEARD == 0;
    boolean due = nowMillis >= counter.keptUntilMillis() - CACHE_DECIDES_MILLIS;
    return heard || due ? null : counter;
  }

  void put(Counter counter) {
    int slot = slot(counter.key);
    Counter first = at(slot);
    if (first == counter || at(slot ^ 1) == counter) {
      return;
    }
    if (first != null) {
      SLOT.setRelease(slots, slot ^ 1, first);
    }
    SLOT.setRelease(slots, slot, counter);
  }

  /** Drops whatever is where {@code key} would be. */
  void drop(CounterKey key) {
    int slot = slot(key);
    SLOT.setRelease(slots, slot, (Counter) null);
    SLOT.setRelease(slots, slot ^ 1, (Counter) null);
  }

  private @Nullable Counter at(int slot) {
    return (Counter) SLOT.getAcquire(slots, slot);
  }

  private int slot(CounterKey key) {
    return key.hashCode() & (slots.length - 1);
  }
}
