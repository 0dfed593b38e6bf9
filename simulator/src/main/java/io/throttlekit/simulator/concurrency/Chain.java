package io.throttlekit.simulator.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * How a proxy's access log reaches a law, and how the ceiling comes back.
 *
 * @param workers threads of the proxy, each with a buffer of its own
 * @param flushNanos how long a buffer gathers entries
 * @param loss what part of the entries never arrives
 * @param pushNanos from a new ceiling until the proxy obeys it
 */
record Chain(int workers, long flushNanos, double loss, long pushNanos) {
  /** Envoy's default flush, half a second to push, and one entry of a hundred lost. */
  static final Chain ENVOY =
      new Chain(4, TimeUnit.SECONDS.toNanos(1), 0.01, TimeUnit.MILLISECONDS.toNanos(500));
}
