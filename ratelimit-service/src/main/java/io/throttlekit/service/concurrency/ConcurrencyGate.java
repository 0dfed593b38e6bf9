package io.throttlekit.service.concurrency;

import io.throttlekit.TimeSource;
import io.throttlekit.tier.Timer;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Limiter that admits as many requests in flight as the concurrency limits that they reach allow,
 * and gives each admitted one a lease. Thread-safe; never blocks.
 */
public final class ConcurrencyGate {
  // bounds memory where a client chooses the entries
  private static final int MOST_IDLE_CEILINGS = 10_000;
  // bounds memory where leases are not released before their TTL
  private static final int MOST_LEASES = 1_000_000;

  private final TimeSource time;
  private final Ceilings ceilings;
  private final Leases leases;
  private final GateListener listener;
  private final LongSupplier retryAfterMillis;

  /**
   * Creates a limiter with nothing in flight.
   *
   * @param timer follows {@code time}
   * @param retryAfterMillis supplies the Retry-After of each refused request, above 0; random
   *     values keep clients from retrying all at once
   */
  public ConcurrencyGate(
      TimeSource time, Timer timer, GateListener listener, LongSupplier retryAfterMillis) {
    this(time, timer, listener, retryAfterMillis, MOST_IDLE_CEILINGS, MOST_LEASES);
  }

  ConcurrencyGate(
      TimeSource time,
      Timer timer,
      GateListener listener,
      LongSupplier retryAfterMillis,
      int mostIdleCeilings,
      int mostLeases) {
    this.time = time;
    this.ceilings = new Ceilings(time, timer, mostIdleCeilings);
    this.leases = new Leases(time, timer, listener, mostLeases);
    this.listener = listener;
    this.retryAfterMillis = retryAfterMillis;
  }

  /**
   * Acquires a slot below each of the wanted concurrency limits.
   *
   * @param wanted at least one
   * @param waitNanos the wait timeout, from 0
   * @param later receives the result, before this returns or later
   */
  public Entering enter(List<Wanted> wanted, long waitNanos, Entering.Later later) {
    Entering entering = new Entering(this, wanted, waitNanos, later);
    entering.ask(0);
    return entering;
  }

  /** Returns the concurrency limits, for display. */
  public Ceilings ceilings() {
    return ceilings;
  }

  /** Returns the leases, to end them. */
  public Leases leases() {
    return leases;
  }

  /** Returns the clock of the leases. */
  public TimeSource time() {
    return time;
  }

  GateListener listener() {
    return listener;
  }

  long retryAfterMillis() {
    return retryAfterMillis.getAsLong();
  }
}
