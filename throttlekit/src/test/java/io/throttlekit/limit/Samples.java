package io.throttlekit.limit;

import java.util.concurrent.TimeUnit;

/** Creates samples for the tests of limit algorithms, in milliseconds. */
final class Samples {
  private Samples() {}

  static long ms(double millis) {
    return Math.round(millis * TimeUnit.MILLISECONDS.toNanos(1));
  }

  /** Creates a completed request that arrived directly after its latency. */
  static Sample completed(double arrivedMillis, double rttMillis, int inFlight) {
    return new Sample(
        ms(arrivedMillis) - ms(rttMillis),
        ms(rttMillis),
        ms(arrivedMillis),
        inFlight,
        false,
        false);
  }

  /** Creates a dropped request. */
  static Sample dropped(double arrivedMillis, double rttMillis, int inFlight) {
    return new Sample(
        ms(arrivedMillis) - ms(rttMillis), ms(rttMillis), ms(arrivedMillis), inFlight, false, true);
  }

  /** Adds equal requests that arrive every 10 ms, within a second from the given time on. */
  static void second(
      ConcurrencyLimit algorithm,
      double fromMillis,
      double rttMillis,
      int inFlight,
      boolean dropped) {
    for (int i = 1; i <= 100; i++) {
      double arrived = fromMillis + 10.0 * i;
      algorithm.learn(
          dropped
              ? dropped(arrived, rttMillis, inFlight)
              : completed(arrived, rttMillis, inFlight));
    }
  }
}
