package io.throttlekit.service.concurrency;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Gate;
import io.throttlekit.tier.Timer;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limiter that admits as many requests in flight as the concurrency limits that they reach allow,
 * and gives each admitted one a lease. Thread-safe; never blocks.
 */
public final class ConcurrencyLimiter {
  // bounds memory where a client chooses the entries
  private static final int MAX_IDLE_LIMITS = 10_000;
  // bounds memory where leases are not released before their TTL
  private static final int MAX_LEASES = 1_000_000;

  private final TimeSource time;
  private final ConcurrencyLimits limits;
  private final Leases leases;
  final ConcurrencyListener listener;
  private final LongSupplier retryAfterMillis;

  /**
   * Creates a limiter with nothing in flight.
   *
   * @param timer follows {@code time}
   * @param retryAfterMillis supplies the Retry-After of each refused request, above 0; random
   *     values keep clients from retrying all at once
   */
  public ConcurrencyLimiter(
      TimeSource time, Timer timer, ConcurrencyListener listener, LongSupplier retryAfterMillis) {
    this(time, timer, listener, retryAfterMillis, PriorityTerms::of, MAX_IDLE_LIMITS, MAX_LEASES);
  }

  ConcurrencyLimiter(
      TimeSource time,
      Timer timer,
      ConcurrencyListener listener,
      LongSupplier retryAfterMillis,
      Function<Gate, @Nullable PriorityTerms> priorities,
      int maxIdleLimits,
      int maxLeases) {
    this.time = time;
    this.limits = new ConcurrencyLimits(time, timer, listener, priorities, maxIdleLimits);
    this.leases = new Leases(time, timer, listener, maxLeases);
    this.listener = listener;
    this.retryAfterMillis = retryAfterMillis;
  }

  /**
   * Acquires a slot below each of the requested concurrency limits.
   *
   * @param requests at least one
   * @param waitNanos the wait timeout, from 0
   * @param callback receives the result, before this returns or later
   */
  public SlotAcquisition enter(
      List<SlotRequest> requests, long waitNanos, SlotAcquisition.SlotCallback callback) {
    SlotAcquisition acquisition = new SlotAcquisition(this, requests, waitNanos, callback);
    acquisition.acquireFrom(0);
    return acquisition;
  }

  /** Returns the concurrency limits, for display. */
  public ConcurrencyLimits limits() {
    return limits;
  }

  /** Returns the leases, to end them. */
  public Leases leases() {
    return leases;
  }

  /** Returns the clock of the leases. */
  public TimeSource time() {
    return time;
  }

  long retryAfterMillis() {
    return retryAfterMillis.getAsLong();
  }
}
