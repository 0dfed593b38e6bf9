package io.throttlekit.simulator.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * For how long load and backend stay as they are.
 *
 * @param seconds from 1
 * @param perSecond requests that arrive, independent of each other and of what became of others
 * @param servers how many requests the backend works on at once
 * @param meanMillis how long it works on one, the mean
 * @param lengths how that varies
 */
record Phase(int seconds, double perSecond, int servers, double meanMillis, Lengths lengths) {
  private static final double MILLIS = TimeUnit.SECONDS.toMillis(1);

  /** What the backend completes in a second when it is never idle. */
  double capacity() {
    return servers * MILLIS / meanMillis;
  }
}
