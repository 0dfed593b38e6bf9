package io.throttlekit.simulator.concurrency;

/** A limiter between load and backend that feeds a limit algorithm. */
interface SimulatedLimiter {

  /** Returns the limit in effect. */
  int limit();

  /** Records a refused request. */
  void refused(long nowNanos);

  /**
   * Records the end of a request.
   *
   * @param inFlightThen requests in flight when it began, itself included
   * @param inFlightNow requests in flight when it ended, itself included
   * @param dropped whether its client timed out
   */
  void ended(long startNanos, long nowNanos, int inFlightThen, int inFlightNow, boolean dropped);

  /** Returns the time of the next event; {@link Long#MAX_VALUE} if there is none. */
  long next();

  /** Runs the event that was due at {@link #next}. */
  void wake();
}
