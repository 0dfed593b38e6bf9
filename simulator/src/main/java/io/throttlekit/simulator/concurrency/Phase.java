package io.throttlekit.simulator.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * A span with constant load and backend.
 *
 * @param seconds duration, from 1
 * @param perSecond arrival rate; arrivals are independent of each other and of earlier responses
 * @param servers requests that the backend serves at once
 * @param meanMillis mean service time
 * @param lengths distribution of the service time
 */
public record Phase(
    int seconds, double perSecond, int servers, double meanMillis, Lengths lengths) {
  private static final double MILLIS = TimeUnit.SECONDS.toMillis(1);

  /** Returns the requests per second of a fully used backend. */
  public double capacity() {
    return servers * MILLIS / meanMillis;
  }
}
