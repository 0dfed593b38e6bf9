package io.throttlekit.concurrency;

/**
 * Infers from what requests experienced how many of them a backend can take at once.
 *
 * <p>A law decides a number and admits nobody; gates obey it. It has no clock and no thread: it
 * moves when it is told something, and believes the times that it is told.
 *
 * <p>{@link #ceiling} may be asked by any thread at any time. Everything else is called by one
 * thread at a time.
 */
public sealed interface ConcurrencyLimit
    permits AimdLimit, FailsafeLimit, Gradient2Limit, ProbedVegasLimit, VegasLimit {

  /** How many requests may be in flight now. */
  int ceiling();

  /** Learns from a request that has ended. */
  void learn(Sample sample);

  /**
   * Learns that the ceiling kept requests from the backend: whoever would infer from what is in
   * flight knows by it that there was demand for more.
   *
   * @param arrivedNanos when this process heard of it, monotonic
   * @param requests from 0
   */
  void refused(long arrivedNanos, long requests);

  /**
   * Learns how many requests gates let in together: the ceiling in the end, and something between
   * the last one and it while they are told one after another. A gate in this process obeys at
   * once, and need not say so.
   *
   * @param requests from 0
   * @param sinceNanos monotonic
   */
  void inForce(int requests, long sinceNanos);
}
