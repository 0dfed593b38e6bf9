package io.throttlekit.simulator.concurrency;

/** What stands between load and backend, and tells a law of both. */
interface Gate {

  /** The ceiling that it obeys now. */
  int ceiling();

  /** Hears that a request was kept out. */
  void refused(long nowNanos);

  /**
   * Hears that a request is over.
   *
   * @param inFlightThen how many there were when it began, itself included
   * @param inFlightNow how many there are, itself included
   * @param dropped whether its client gave up
   */
  void ended(long startNanos, long nowNanos, int inFlightThen, int inFlightNow, boolean dropped);

  /** When it has something to do next; {@link Long#MAX_VALUE} when it only reacts. */
  long next();

  /** Does what was due at {@link #next}. */
  void wake();
}
