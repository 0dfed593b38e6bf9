package io.throttlekit.envoy.filter;

import java.time.Duration;

/**
 * Settings of the filters that Envoys receive.
 *
 * @param cluster Envoy's cluster of the rate-limit service
 * @param timeout of a call to the service, from 1 ms
 * @param failureModeDeny whether Envoy refuses requests while the service does not answer
 */
public record FilterSettings(String cluster, Duration timeout, boolean failureModeDeny) {

  /**
   * @throws IllegalArgumentException when a value is out of range
   */
  public FilterSettings {
    if (cluster.isEmpty() || timeout.toMillis() < 1) {
      throw new IllegalArgumentException(
          "a filter needs the name of a cluster, and a timeout of 1 ms at least");
    }
  }
}
