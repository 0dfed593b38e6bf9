package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.store.CallId;
import io.throttlekit.store.CallRecords;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An escrow in the memory of one process: the reference implementation. Answers before its methods
 * return. Thread-safe.
 */
public final class InMemoryEscrow implements RegionalEscrow {
  private final TimeSource time;
  private final Map<CounterKey, Map<Long, Held>> windows = new HashMap<>();

  /** The units of one window. */
  private static final class Held {
    final Set<String> refills = new HashSet<>();
    final CallRecords calls = new CallRecords();
    long units;
    long beginsMillis = Long.MAX_VALUE;
    long endsMillis = Long.MIN_VALUE;

    long take(long most) {
      long taken = Math.min(most, units);
      units -= taken;
      return taken;
    }

    @Override
    public String toString() {
      return "%d from %d to %d, refills %s".formatted(units, beginsMillis, endsMillis, refills);
    }
  }

  /** Creates an escrow with the wall clock of {@code time}. */
  public InMemoryEscrow(TimeSource time) {
    this.time = time;
  }

  @Override
  public synchronized CompletionStage<EscrowGrant> lease(
      CounterKey key, long units, @Nullable CallId id) {
    long now = time.wallMillis();
    for (Map.Entry<Long, Held> window : of(key, now).entrySet()) {
      Held held = window.getValue();
      // A refill may arrive before its window has begun.
      if (held.beginsMillis <= now) {
        return CallRecords.stage(() -> {
          long granted = held.calls.once(id, 0, () -> held.take(units));
          return new EscrowGrant(
              granted, window.getKey(), held.beginsMillis, held.endsMillis, now, held.units);
        });
      }
    }
    return CompletableFuture.completedFuture(EscrowGrant.nothing(now));
  }

  @Override
  public synchronized CompletionStage<Boolean> refill(EscrowRefill refill) {
    long now = time.wallMillis();
    if (refill.endsMillis() <= now) {
      return CompletableFuture.completedFuture(false);
    }
    Held held = of(refill.key(), now).computeIfAbsent(refill.windowEndMillis(), _ -> new Held());
    if (held.refills.add(refill.id())) {
      held.units += refill.units();
      // Every refill allows for drift, so the union of their spans is within the window, too.
      held.beginsMillis = Math.min(held.beginsMillis, refill.beginsMillis());
      held.endsMillis = Math.max(held.endsMillis, refill.endsMillis());
    }
    return CompletableFuture.completedFuture(true);
  }

  @Override
  public synchronized CompletionStage<Long> release(
      CounterKey key, long windowEndMillis, @Nullable CallId id) {
    Held held = of(key, time.wallMillis()).get(windowEndMillis);
    if (held == null) {
      return CompletableFuture.completedFuture(0L);
    }
    // refills stay recorded, so a repeat is ignored
    return CallRecords.stage(() -> held.calls.once(id, 0, () -> held.take(Long.MAX_VALUE)));
  }

  @Override
  public CompletionStage<Long> health() {
    return CompletableFuture.completedFuture(time.wallMillis());
  }

  @Override
  public void close() {}

  /** Returns the units of each window. */
  @Override
  public synchronized String toString() {
    return windows.toString();
  }

  /** Returns the windows of a counter that have not ended, in order of their end. */
  private Map<Long, Held> of(CounterKey key, long now) {
    Map<Long, Held> ofKey = windows.computeIfAbsent(key, _ -> new TreeMap<>());
    ofKey.values().removeIf(held -> held.endsMillis <= now);
    return ofKey;
  }
}
