package io.throttlekit.demo.load;

import io.throttlekit.simulator.concurrency.Lengths;
import java.time.Duration;

/**
 * The capacity of an upstream.
 *
 * @param workers requests that it serves at once, from 1
 * @param service mean service time of a request
 * @param lengths distribution of the service time
 */
public record Capacity(int workers, Duration service, Lengths lengths) {
  private static final double MAX_PER_SECOND = 300; // see the constructor
  private static final int GOOD_WITHIN = 5; // times the service time, as in the simulation

  /**
   * 125 requests a second, with service times distributed as in the simulation. Three Envoys at
   * five times this load, with clients and upstreams, fit on two processors; at 250 a second they
   * did not.
   */
  public static final Capacity USUAL =
      new Capacity(10, Duration.ofMillis(80), Lengths.logNormal(0.5));

  /**
   * @throws IllegalArgumentException if there is no worker or no time, or if the capacity exceeds
   *     300 requests a second: five times as many, for each of three Envoys, must fit on a small
   *     machine
   */
  public Capacity {
    if (workers < 1
        || !service.isPositive()
        || workers * 1e9 / service.toNanos() > MAX_PER_SECOND) {
      throw new IllegalArgumentException(
          "an upstream has a worker at least, and serves up to 300 requests a second");
    }
  }

  /** Returns the requests per second with all workers busy. */
  public double perSecond() {
    return workers * 1e9 / service.toNanos();
  }

  /** Returns the time within which a response counts as good. */
  public Duration deadline() {
    return service.multipliedBy(GOOD_WITHIN);
  }
}
