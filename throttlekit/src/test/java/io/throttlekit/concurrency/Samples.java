package io.throttlekit.concurrency;

import java.util.concurrent.TimeUnit;

/** Requests as the tests of laws tell them, in milliseconds. */
final class Samples {
  private Samples() {}

  static long ms(double millis) {
    return Math.round(millis * TimeUnit.MILLISECONDS.toNanos(1));
  }

  /** A request that ended well and took as long as it was about. */
  static Sample completed(double arrivedMillis, double rttMillis, int inFlight) {
    return new Sample(
        ms(arrivedMillis) - ms(rttMillis),
        ms(rttMillis),
        ms(arrivedMillis),
        inFlight,
        false,
        false);
  }

  /** A request that was given up. */
  static Sample dropped(double arrivedMillis, double rttMillis, int inFlight) {
    return new Sample(
        ms(arrivedMillis) - ms(rttMillis), ms(rttMillis), ms(arrivedMillis), inFlight, false, true);
  }

  /** Many requests alike, arriving within a second from the given one on, every 10 ms. */
  static void second(
      ConcurrencyLimit law, double fromMillis, double rttMillis, int inFlight, boolean dropped) {
    for (int i = 1; i <= 100; i++) {
      double arrived = fromMillis + 10.0 * i;
      law.learn(
          dropped
              ? dropped(arrived, rttMillis, inFlight)
              : completed(arrived, rttMillis, inFlight));
    }
  }
}
