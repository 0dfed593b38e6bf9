package io.throttlekit.demo.overload;

import io.throttlekit.simulator.concurrency.Lengths;
import java.time.Duration;

/**
 * What an upstream can do.
 *
 * @param workers requests that it works on at once, from 1
 * @param service how long a worker needs for one, in the mean
 * @param lengths how that varies about the mean
 */
record Capacity(int workers, Duration service, Lengths lengths) {
  private static final double MOST_PER_SECOND = 300;
  private static final int GOOD_WITHIN = 5; // times the service time, as in the simulation

  /**
   * 125 requests a second; the times vary as those of the simulation. Three Envoys with five times
   * as much, their clients and their upstreams fit on two processors; with 250 they did not.
   */
  static final Capacity USUAL = new Capacity(10, Duration.ofMillis(80), Lengths.logNormal(0.5));

  /**
   * @throws IllegalArgumentException when there is no worker or no time, or more than 300 requests
   *     a second: five times as many, for each of three Envoys, must fit on a small machine
   */
  Capacity {
    if (workers < 1
        || !service.isPositive()
        || workers * 1e9 / service.toNanos() > MOST_PER_SECOND) {
      throw new IllegalArgumentException(
          "an upstream has a worker at least, and serves up to 300 requests a second");
    }
  }

  /** Requests per second, while all workers are there and always busy. */
  double perSecond() {
    return workers * 1e9 / service.toNanos();
  }

  /** How soon an answer must come to be good. */
  Duration deadline() {
    return service.multipliedBy(GOOD_WITHIN);
  }
}
