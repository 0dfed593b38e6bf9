package io.throttlekit.simulator.concurrency;

/** A limiter between load and backend that feeds a limit algorithm. */
public interface SimulatedLimiter {

  /** Returns the limit in effect. */
  int limit();

  /**
   * Decides about a request, and records it if it is refused.
   *
   * @param number of the request, by which {@link #ended} names it if it is admitted
   * @param inFlight requests in flight without it
   * @return whether it is admitted
   */
  boolean admit(long number, long nowNanos, int inFlight);

  /**
   * Records the end of a request.
   *
   * @param inFlightThen requests in flight when it began, itself included
   * @param inFlightNow requests in flight when it ended, itself included
   * @param dropped whether its client timed out
   */
  void ended(
      long number,
      long startNanos,
      long nowNanos,
      int inFlightThen,
      int inFlightNow,
      boolean dropped);

  /** Returns the time of the next event; {@link Long#MAX_VALUE} if there is none. */
  long next();

  /** Runs the event that was due at {@link #next}. */
  void wake();
}
