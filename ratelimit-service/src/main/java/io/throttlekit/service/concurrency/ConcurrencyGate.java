package io.throttlekit.service.concurrency;

import io.throttlekit.TimeSource;
import io.throttlekit.tier.Timer;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Lets as many requests be in flight as the ceilings that they reach allow, and gives each that is
 * a lease. Thread-safe; nothing blocks.
 */
public final class ConcurrencyGate {
  private static final int MOST_IDLE_CEILINGS = 10_000;
  private static final int MOST_LEASES = 1_000_000;

  private final TimeSource time;
  private final Ceilings ceilings;
  private final Leases leases;
  private final GateListener listener;
  private final LongSupplier retryAfterMillis;

  /**
   * A gate that nobody has passed.
   *
   * @param timer follows {@code time}
   * @param retryAfterMillis what each refused request is told, above 0; best by lot, so that not
   *     all come again at once
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
   * Has a request enter the ceilings that it wants.
   *
   * @param wanted at least one
   * @param waitNanos how long it waits at most, from 0
   * @param later is told what becomes of it, before this returns or later
   */
  public Entering enter(List<Wanted> wanted, long waitNanos, Entering.Later later) {
    Entering entering = new Entering(this, wanted, waitNanos, later);
    entering.ask(0);
    return entering;
  }

  /** The ceilings, to be shown. */
  public Ceilings ceilings() {
    return ceilings;
  }

  /** The leases, to be ended. */
  public Leases leases() {
    return leases;
  }

  /** The clock of the leases. */
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
