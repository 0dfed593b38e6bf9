package io.throttlekit.service.concurrency;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limiter that admits as many requests in flight as the concurrency limits that they reach allow,
 * and gives each admitted one a permit. Thread-safe; never blocks.
 */
public final class ConcurrencyLimiter implements AutoCloseable {
  // bounds memory where a client chooses the entries
  private static final int MAX_IDLE_LIMITS = 10_000;
  // bounds memory where permits are not released before their TTL
  private static final int MAX_PERMITS = 1_000_000;

  private final TimeSource time;
  private final ConcurrencyLimits limits;
  private final RequestPermits permits;
  private final ConcurrencyListener listener;
  private final LongSupplier retryAfterMillis;

  /**
   * Creates a limiter with nothing in flight, whose limits no other process shares.
   *
   * @param timer follows {@code time}
   * @param retryAfterMillis supplies the Retry-After of each refused request, above 0; random
   *     values keep clients from retrying all at once
   */
  public ConcurrencyLimiter(
      TimeSource time,
      Scheduler timer,
      ConcurrencyListener listener,
      LongSupplier retryAfterMillis) {
    this(time, timer, listener, retryAfterMillis, null);
  }

  /**
   * Creates a limiter with nothing in flight.
   *
   * @param fleet the replicas that share the limits; null if none do
   */
  public ConcurrencyLimiter(
      TimeSource time,
      Scheduler timer,
      ConcurrencyListener listener,
      LongSupplier retryAfterMillis,
      @Nullable Fleet fleet) {
    this(time, timer, listener, retryAfterMillis, fleet, MAX_IDLE_LIMITS, MAX_PERMITS);
  }

  ConcurrencyLimiter(
      TimeSource time,
      Scheduler timer,
      ConcurrencyListener listener,
      LongSupplier retryAfterMillis,
      @Nullable Fleet fleet,
      int maxIdleLimits,
      int maxPermits) {
    this.time = time;
    this.permits = new RequestPermits(time, timer, listener, maxPermits);
    this.limits =
        new ConcurrencyLimits(time, timer, listener, fleet, permits.orphans(), maxIdleLimits);
    this.listener = listener;
    this.retryAfterMillis = retryAfterMillis;
  }

  /**
   * Acquires a permit of each of the requested concurrency limits.
   *
   * @param reached at least one
   * @param waitNanos the wait timeout, from 0
   * @param callback receives the result, before this returns or later
   */
  public PermitAcquisition enter(
      List<ReachedLimit> reached, long waitNanos, PermitAcquisition.AcquisitionCallback callback) {
    PermitAcquisition acquisition = new PermitAcquisition(this, reached, waitNanos, callback);
    acquisition.acquireFrom(0);
    return acquisition;
  }

  /** Returns the concurrency limits, for display. */
  public ConcurrencyLimits limits() {
    return limits;
  }

  /** Returns the permits of requests, to end them. */
  public RequestPermits permits() {
    return permits;
  }

  /** Returns the listener of its events. */
  public ConcurrencyListener listener() {
    return listener;
  }

  /** Returns the clock of the permits. */
  public TimeSource time() {
    return time;
  }

  /**
   * Leaves the replicas that share the limits. Limits that are shared admit nothing from here on;
   * permits stay valid.
   */
  @Override
  public void close() {
    limits.close();
  }

  long retryAfterMillis() {
    return retryAfterMillis.getAsLong();
  }
}
