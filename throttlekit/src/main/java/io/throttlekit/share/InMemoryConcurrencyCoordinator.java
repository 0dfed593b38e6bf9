package io.throttlekit.share;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * A coordinator in the memory of one process: the reference implementation, sufficient where all
 * nodes are one process. Answers before its methods return. Thread-safe.
 */
public final class InMemoryConcurrencyCoordinator implements ConcurrencyCoordinator {
  /** The most limits. Heartbeats for others fail while there are so many. */
  static final int MAX_LIMITS = 10_000;

  private final TimeSource time;
  private final Coordination terms;
  private final Map<String, FleetState> fleets = new HashMap<>();
  private boolean closed;

  /** Creates a coordinator without nodes, whose leases follow the monotonic clock. */
  public InMemoryConcurrencyCoordinator(TimeSource time, Coordination terms) {
    this.time = time;
    this.terms = terms;
  }

  @Override
  public synchronized CompletionStage<ShareGrant> heartbeat(Heartbeat heartbeat) {
    if (closed) {
      return failed("the coordinator is closed");
    }
    if (!fleets.containsKey(heartbeat.key()) && !hasRoom()) {
      return failed("there are " + MAX_LIMITS + " concurrency limits already");
    }
    FleetState.Outcome outcome =
        fleets
            .getOrDefault(heartbeat.key(), FleetState.EMPTY)
            .heartbeat(terms, heartbeat, nowMillis());
    fleets.put(heartbeat.key(), outcome.next());
    return CompletableFuture.completedStage(outcome.grant());
  }

  @Override
  public synchronized CompletionStage<Void> leave(Departure departure) {
    if (closed) {
      return failed("the coordinator is closed");
    }
    fleets.computeIfPresent(departure.key(), (_, fleet) -> fleet.leave(departure, nowMillis()));
    return CompletableFuture.completedStage(null);
  }

  @Override
  public synchronized CompletionStage<Void> released(ReleasedPermits released) {
    if (closed) {
      return failed("the coordinator is closed");
    }
    fleets.computeIfPresent(released.key(), (_, fleet) -> fleet.released(released, nowMillis()));
    return CompletableFuture.completedStage(null);
  }

  /** Returns the state of a limit. */
  public synchronized FleetState state(String key) {
    return fleets.getOrDefault(key, FleetState.EMPTY);
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  /** Removes limits without nodes if there is no room for another one. */
  private boolean hasRoom() {
    if (fleets.size() >= MAX_LIMITS) {
      long now = nowMillis();
      fleets.values().removeIf(fleet -> fleet.isEmpty(now));
    }
    return fleets.size() < MAX_LIMITS;
  }

  private long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos());
  }

  private static <T> CompletionStage<T> failed(String why) {
    return CompletableFuture.failedStage(StoreException.notSent(why));
  }
}
