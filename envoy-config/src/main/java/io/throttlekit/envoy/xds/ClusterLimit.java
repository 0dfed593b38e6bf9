package io.throttlekit.envoy.xds;

import java.util.Locale;

/**
 * Target of a concurrency limit.
 *
 * @param cluster an upstream cluster of the Envoys, by its name there
 * @param priority of the routes that lead to it
 */
public record ClusterLimit(String cluster, Priority priority) {

  /** Routing priority; Envoy counts the requests of each separately. */
  public enum Priority {
    /** Priority of routes without {@code priority}. */
    DEFAULT,
    /** Priority of routes with {@code priority: HIGH}. */
    HIGH
  }

  /**
   * @throws IllegalArgumentException when the cluster has no name
   */
  public ClusterLimit {
    if (cluster.isEmpty()) {
      throw new IllegalArgumentException("a limit needs the name of a cluster");
    }
  }

  /** Returns the runtime key that Envoy looks up at each request. */
  String runtimeKey() {
    String key = priority.name().toLowerCase(Locale.ROOT);
    return "circuit_breakers." + cluster + "." + key + ".max_requests";
  }
}
