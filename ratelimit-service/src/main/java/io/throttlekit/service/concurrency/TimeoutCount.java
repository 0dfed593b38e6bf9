package io.throttlekit.service.concurrency;

/**
 * Counts requests and their timeouts in the current period and the previous one. Not thread-safe.
 */
public final class TimeoutCount {
  private long requests;
  private long timeouts;
  private long requestsBefore;
  private long timeoutsBefore;

  /** Counts a request that was answered or timed out. */
  public void add(boolean timedOut) {
    requests++;
    timeouts += timedOut ? 1 : 0;
  }

  /** Adds the requests of another count to the current period. */
  public void add(TimeoutCount other) {
    requests += other.requests();
    timeouts += other.timeouts();
  }

  /**
   * Begins a period.
   *
   * @param forgetAll whether the current period is too old to be the previous one
   * @return whether the previous period has requests
   */
  public boolean next(boolean forgetAll) {
    requestsBefore = forgetAll ? 0 : requests;
    timeoutsBefore = forgetAll ? 0 : timeouts;
    requests = 0;
    timeouts = 0;
    return requestsBefore > 0;
  }

  public long requests() {
    return requests + requestsBefore;
  }

  public long timeouts() {
    return timeouts + timeoutsBefore;
  }
}
