package io.throttlekit.simulator.concurrency;

import java.util.Arrays;

/**
 * The requests that a backend was given, in order: those that nobody waits for any more, those that
 * were begun or are over, those that wait for a server.
 *
 * <p>They are numbered as they come. A ring holds them, and grows when it must.
 */
final class Requests {
  private static final int ROOM = 1 << 10;

  private long[] starts = new long[ROOM];
  private double[] lengths = new double[ROOM];
  private int[] companies = new int[ROOM];
  private boolean[] over = new boolean[ROOM];
  private long oldest;
  private long nextToServe;
  private long nextToCome;

  /**
   * One more.
   *
   * @param length how long it takes a server, by the mean
   * @param company how many are in flight with it, itself included
   */
  void add(long startNanos, double length, int company) {
    if (nextToCome - oldest == starts.length) {
      grow();
    }
    int at = at(nextToCome++);
    starts[at] = startNanos;
    lengths[at] = length;
    companies[at] = company;
    over[at] = false;
  }

  boolean anyWaits() {
    return nextToServe < nextToCome;
  }

  /** The number of the one that has waited longest, which waits no more. */
  long serve() {
    return nextToServe++;
  }

  /** Whether somebody still waits for the answer. */
  boolean isOpen(long number) {
    return number >= oldest && !over[at(number)];
  }

  long start(long number) {
    return starts[at(number)];
  }

  double length(long number) {
    return lengths[at(number)];
  }

  int company(long number) {
    return companies[at(number)];
  }

  /** It has been answered. */
  void end(long number) {
    over[at(number)] = true;
    while (oldest < nextToCome && over[at(oldest)]) {
      oldest++;
    }
  }

  /** When the oldest that is open began; {@link Long#MAX_VALUE} when none is. */
  long oldestStart() {
    return oldest < nextToCome ? starts[at(oldest)] : Long.MAX_VALUE;
  }

  /** The client of the oldest gives up: it loses its place when no server has begun it. */
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
    companies = Arrays.copyOf(companies, 2 * size);
    over = Arrays.copyOf(over, 2 * size);
    for (long number = oldest; number < nextToCome; number++) {
      int was = (int) number & (size - 1);
      int is = at(number);
      if (is != was) { // then it is in the new half, where nobody is yet
        starts[is] = starts[was];
        lengths[is] = lengths[was];
        companies[is] = companies[was];
        over[is] = over[was];
      }
    }
  }
}
