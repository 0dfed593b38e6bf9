package io.throttlekit.bench.busy;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Counters in memory that block the calling event loop for as long as a decision takes at a given
 * capacity. It simulates a slow machine; real stores must not block.
 */
final class SlowStore implements CounterStore {
  /**
   * Time by which decisions may catch up. The event loop also refuses what is too late, at about
   * the cost of a call that decides nothing: that time is the machine's, and not taken from the
   * capacity. At ten times the capacity it is a third of the time on a slow machine.
   */
  private static final long CATCH_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final InMemoryStore counters;
  private final TimeSource time;
  private final long decisionNanos;
  private final AtomicLong busyUntil;

  /** Creates a store that decides at most {@code perSecond} requests in a second. */
  SlowStore(int perSecond, TimeSource time) {
    this.counters = new InMemoryStore(time, 10_000);
    this.time = time;
    this.decisionNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.busyUntil = new AtomicLong(time.monotonicNanos());
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    long now = time.monotonicNanos();
    long done =
        busyUntil.updateAndGet(
            before -> before + Math.max(0, now - CATCH_UP_NANOS - before) + decisionNanos);
    for (long left = done - time.monotonicNanos(); left > 0; left = done - time.monotonicNanos()) {
      LockSupport.parkNanos(left);
    }
    return counters.acquire(claims, waitNanos);
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    return counters.lease(request);
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    return counters.returnUnits(lease, windowEndMillis, units);
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    return counters.reset(key, algorithm);
  }

  @Override
  public void close() {
    counters.close();
  }
}
