package io.throttlekit.limit;

/**
 * The measurement of one request that has ended. Times are monotonic ns of this process; none is a
 * difference between the clocks of two hosts.
 *
 * @param startNanos when the request began, as far as this process knows
 * @param rttNanos latency of the backend, from 0
 * @param arrivedNanos when this process received the end; sample windows follow it
 * @param inFlight requests in flight when it began, itself included, from 1
 * @param full whether as many were in flight as the limit allows when it ended
 * @param dropped whether it timed out or was cancelled, which is evidence of overload; its latency
 *     is not a measurement of the backend then
 */
public record Sample(
    long startNanos,
    long rttNanos,
    long arrivedNanos,
    int inFlight,
    boolean full,
    boolean dropped) {

  /**
   * @throws IllegalArgumentException when {@code rttNanos} is negative or {@code inFlight} below 1
   */
  public Sample {
    if (rttNanos < 0 || inFlight < 1) {
      throw new IllegalArgumentException(
          "rttNanos must not be negative and inFlight at least 1, were %s and %s"
              .formatted(rttNanos, inFlight));
    }
  }

  /** Returns this sample with at most so many requests in flight, from 1. */
  public Sample withAtMost(int requests) {
    return inFlight <= requests
        ? this
        : new Sample(startNanos, rttNanos, arrivedNanos, requests, full, dropped);
  }

  /** Returns this sample with another time of arrival, or itself if it has that. */
  public Sample arrivedAt(long nanos) {
    return nanos == arrivedNanos
        ? this
        : new Sample(startNanos, rttNanos, nanos, inFlight, full, dropped);
  }
}
