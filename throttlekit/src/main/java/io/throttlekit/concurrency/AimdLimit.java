package io.throttlekit.concurrency;

/**
 * Adds one request while nothing is wrong and the ceiling is in use, and takes a share away for
 * each request that was given up or took too long: additive increase, multiplicative decrease, as
 * TCP's congestion avoidance does (Chiu and Jain, 1989).
 */
public final class AimdLimit implements ConcurrencyLimit {
  private final CeilingRange range;
  private final double backoff;
  private final long timeoutNanos;
  private volatile int ceiling;

  /**
   * A law at its initial ceiling.
   *
   * @param backoff what of the ceiling stays when it is lowered, from 0.5, below 1
   * @param timeoutNanos what takes longer counts as given up, from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  public AimdLimit(CeilingRange range, double backoff, long timeoutNanos) {
    if (!(backoff >= 0.5 && backoff < 1) || timeoutNanos < 1) {
      throw new IllegalArgumentException(
          "backoff must be from 0.5 and below 1, and timeoutNanos at least 1, were "
              + backoff
              + " and "
              + timeoutNanos);
    }
    this.range = range;
    this.backoff = backoff;
    this.timeoutNanos = timeoutNanos;
    this.ceiling = range.initial();
  }

  @Override
  public int ceiling() {
    return ceiling;
  }

  @Override
  public void learn(Sample sample) {
    if (sample.dropped() || sample.rttNanos() > timeoutNanos) {
      ceiling = (int) range.clamp(Math.floor(ceiling * backoff));
    } else if (sample.inFlight() >= ceiling - sample.inFlight()) { // never twice: it can overflow
      ceiling = (int) range.clamp(ceiling + 1.0);
    }
  }

  @Override
  public void refused(long arrivedNanos, long requests) {}

  @Override
  public void inForce(long sinceNanos) {}
}
