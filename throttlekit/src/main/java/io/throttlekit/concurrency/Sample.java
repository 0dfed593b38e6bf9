package io.throttlekit.concurrency;

/**
 * What one request that has ended says about the backend. Times are monotonic ns of this process,
 * and none of them is a difference between the clocks of two hosts.
 *
 * @param startNanos when the request began, as well as this process knows
 * @param rttNanos how long the backend took, from 0
 * @param arrivedNanos when this process heard of the end; windows follow it
 * @param inFlight requests in flight when it began, itself included, from 1
 * @param full whether all that the ceiling allows was in flight when it ended
 * @param dropped whether it was given up, which is evidence of overload; how long that took says
 *     nothing about the backend
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
          "rttNanos must not be negative and inFlight at least 1, were "
              + rttNanos
              + " and "
              + inFlight);
    }
  }
}
