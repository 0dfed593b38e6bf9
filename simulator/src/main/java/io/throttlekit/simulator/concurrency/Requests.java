package io.throttlekit.simulator.concurrency;

import java.util.Arrays;

/**
 * The requests of a backend in order of arrival: open and ended ones, then those that wait for a
 * server.
 *
 * <p>They are numbered as they arrive. A ring buffer holds them, and grows if necessary.
 */
final class Requests {
  private static final int ROOM = 1 << 10;

  private long[] starts = new long[ROOM];
  private double[] lengths = new double[ROOM];
  private int[] inFlights = new int[ROOM];
  private boolean[] over = new boolean[ROOM];
  private long oldest;
  private long nextToServe;
  private long nextToCome;

  /** Returns the number of the request that is added next. */
  long next() {
    return nextToCome;
  }

  /**
   * Adds a request.
   *
   * @param length service time relative to the mean
   * @param inFlight requests in flight with it, itself included
   */
  void add(long startNanos, double length, int inFlight) {
    if (nextToCome - oldest == starts.length) {
      grow();
    }
    int at = at(nextToCome++);
    starts[at] = startNanos;
    lengths[at] = length;
    inFlights[at] = inFlight;
    over[at] = false;
  }

  boolean anyWaits() {
    return nextToServe < nextToCome;
  }

  /** Removes the request that has waited longest from the queue. Returns its number. */
  long serve() {
    return nextToServe++;
  }

  /** Returns whether a client still waits for the response. */
  boolean isOpen(long number) {
    return number >= oldest && !over[at(number)];
  }

  long start(long number) {
    return starts[at(number)];
  }

  double length(long number) {
    return lengths[at(number)];
  }

  int inFlight(long number) {
    return inFlights[at(number)];
  }

  /** Ends a request that was answered. */
  void end(long number) {
    over[at(number)] = true;
    while (oldest < nextToCome && over[at(oldest)]) {
      oldest++;
    }
  }

  /** Returns the start of the oldest open request; {@link Long#MAX_VALUE} if there is none. */
  long oldestStart() {
    return oldest < nextToCome ? starts[at(oldest)] : Long.MAX_VALUE;
  }

  /**
   * Times out the oldest open request, which leaves the queue unless a server has begun it. Returns
   * its number.
   */
  long giveUp() {
    long number = oldest;
    nextToServe = Math.max(nextToServe, number + 1);
    return number;
  }

  private int at(long number) {
    return (int) number & (starts.length - 1);
  }

  private void grow() {
    int size = starts.length;
    starts = Arrays.copyOf(starts, 2 * size);
    lengths = Arrays.copyOf(lengths, 2 * size);
    inFlights = Arrays.copyOf(inFlights, 2 * size);
    over = Arrays.copyOf(over, 2 * size);
    for (long number = oldest; number < nextToCome; number++) {
      int was = (int) number & (size - 1);
      int is = at(number);
      if (is != was) { // moved to the new half, which is empty
        starts[is] = starts[was];
        lengths[is] = lengths[was];
        inFlights[is] = inFlights[was];
        over[is] = over[was];
      }
    }
  }
}
