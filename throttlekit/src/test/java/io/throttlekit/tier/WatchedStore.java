package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The in-memory store with a record of its calls for one counter, and with a defect if a test
 * expects that an exploration finds it. For one thread.
 */
final class WatchedStore implements CounterStore {

  /** A fault of the store that breaks a bound, or hides an event from an exploration. */
  enum Defect {
    NONE,
    /** A node is told of twice as many units as the store has counted. */
    GRANTED_TWICE,
    /** A node is told that the window lasts one window longer. */
    OUTLIVES_WINDOW,
    /** Returned units are subtracted twice. */
    RETURNED_TWICE,
    /** Returned units are subtracted in the current window, whichever they are of. */
    RETURNED_TO_ANOTHER_WINDOW,
    /** Returned units are not subtracted. */
    RETURN_LOST
  }

  private final TimeSource time;
  private final InMemoryStore store;
  private final CounterKey key;
  private final FixedWindow window;
  private final Defect defect;
  private final Set<String> reached;

  /**
   * Creates an empty store that watches the counter {@code key}.
   *
   * @param reached receives the names of the events that happened
   */
  WatchedStore(
      TimeSource time, CounterKey key, FixedWindow window, Defect defect, Set<String> reached) {
    this.time = time;
    this.store = new InMemoryStore(time, 100);
    this.key = key;
    this.window = window;
    this.defect = defect;
    this.reached = reached;
  }

  /** Returns the units that the store has counted in the current window. */
  long used() {
    Charge look = new Charge(key, window, 0, Overrun.COUNT);
    return window.limit() - store.decide(look).remaining();
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    return store.acquire(claims, waitNanos);
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    return store
        .lease(request)
        .thenApply(grant -> {
          if (grant.units() == 0) {
            reached.add("lease: nothing left");
          } else if (grant.units() < request.units()) {
            reached.add("lease: granted in part");
          }
          return changed(grant);
        });
  }

  private LeaseGrant changed(LeaseGrant grant) {
    boolean longer = defect == Defect.OUTLIVES_WINDOW;
    return new LeaseGrant(
        defect == Defect.GRANTED_TWICE ? 2 * grant.units() : grant.units(),
        grant.windowEndMillis(),
        grant.lastsMillis() + (longer ? window.windowMillis() : 0),
        grant.endsWithinMillis() + (longer ? window.windowMillis() : 0),
        grant.left());
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    long before = used();
    // Without an id, because the store ignores a repeated one.
    LeaseRequest again =
        new LeaseRequest(lease.key(), lease.window(), lease.units(), lease.onDataLoss());
    CompletionStage<Void> returned =
        switch (defect) {
          case RETURN_LOST -> CompletableFuture.completedStage(null);
          case RETURNED_TO_ANOTHER_WINDOW ->
              store.returnUnits(lease, window.endMillis(time.wallMillis()), units);
          case RETURNED_TWICE ->
              store
                  .returnUnits(lease, windowEndMillis, units)
                  .thenCompose(_ -> store.returnUnits(again, windowEndMillis, units));
          default -> store.returnUnits(lease, windowEndMillis, units);
        };
    reached.add(used() < before ? "return: taken" : "return: worth nothing");
    return returned;
  }

  @Override
  public CompletionStage<Void> reset(CounterKey counter, RateAlgorithm<?> algorithm) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    // nothing to close
  }
}
