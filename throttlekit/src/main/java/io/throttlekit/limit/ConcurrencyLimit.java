package io.throttlekit.limit;

/**
 * An algorithm that infers from latency and drops how many requests a backend can serve at once.
 *
 * <p>It computes a number and admits nothing; limiters apply it. It has no clock and no thread: it
 * changes only when a method is called, with the times passed to it.
 *
 * <p>{@link #limit} may be called by any thread at any time, all other methods by one thread at a
 * time.
 */
public sealed interface ConcurrencyLimit
    permits DigestedLimit, FailsafeLimit, NoLoadLimit, ProbedVegasLimit, VegasLimit {

  /** Returns the concurrency limit. */
  int limit();

  /** Returns the most that the limit may become. */
  int max();

  /**
   * Returns how many requests in flight leave the limit as it is where latency does not change it:
   * half of the limit, unless the algorithm overrides it. Algorithms raise a limit that is more in
   * use, and some lower one that is less.
   */
  default int restingInFlight() {
    return (limit() - 1) / 2;
  }

  /** Adds the sample of a request that has ended. */
  void learn(Sample sample);

  /**
   * Adds statistics of single requests, for samples that are made of digests. To be called before
   * the samples of the first digest.
   *
   * @param requests of these statistics, from 0
   */
  default void learn(RequestStatistics statistics, long requests) {}

  /**
   * Counts requests that the limit kept from the backend. They show demand that the requests in
   * flight do not show.
   *
   * @param arrivedNanos when this process received the count, monotonic
   * @param requests from 0
   */
  default void refused(long arrivedNanos, long requests) {}

  /**
   * Reports the limit that limiters have acknowledged, summed over all: the current limit in the
   * end, and values between the previous one and it while the change is distributed. A limiter in
   * this process applies a limit at once and need not call this.
   *
   * @param requests from 0
   * @param sinceNanos monotonic
   */
  default void acknowledged(int requests, long sinceNanos) {}

  /**
   * Passes the time. To be called about once a second, at least {@linkplain #isProbing during a
   * measurement}: it must end even if no sample arrives any more.
   *
   * @param nowNanos monotonic
   */
  default void onTick(long nowNanos) {}

  /**
   * Returns the latency without a queue that the algorithm has learned, in ns, for another instance
   * to {@link #resume} with; 0 if it has none, or needs none.
   */
  default long baselineNanos() {
    return 0;
  }

  /**
   * Continues what another instance has learned, at its limit: the first measurement is due as
   * after one. To be called before the first sample.
   *
   * @param baselineNanos of the other instance; 0, which changes nothing, if it had none
   * @param nowNanos monotonic
   */
  default void resume(long baselineNanos, long nowNanos) {}

  /** Returns whether the limit is lowered for a measurement, and will be restored after it. */
  default boolean isProbing() {
    return false;
  }
}
