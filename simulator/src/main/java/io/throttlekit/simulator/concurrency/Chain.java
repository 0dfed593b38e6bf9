package io.throttlekit.simulator.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * The delays between a proxy and a limit algorithm: access log in one direction, limits in the
 * other, and load reports.
 *
 * @param workers threads of the proxy, each with a buffer of its own
 * @param flushNanos how long a buffer collects entries
 * @param loss share of the entries that is lost
 * @param reportNanos interval of the load reports
 * @param pushNanos delay until the proxy applies a new limit
 */
record Chain(int workers, long flushNanos, double loss, long reportNanos, long pushNanos) {
  /**
   * Envoy's default flush interval, a load report each second, half a second to push a limit, and 1
   * % of the entries lost.
   */
  static final Chain ENVOY =
      new Chain(
          4,
          TimeUnit.SECONDS.toNanos(1),
          0.01,
          TimeUnit.SECONDS.toNanos(1),
          TimeUnit.MILLISECONDS.toNanos(500));
}
