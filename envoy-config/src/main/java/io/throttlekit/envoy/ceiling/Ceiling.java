package io.throttlekit.envoy.ceiling;

/**
 * What a ceiling is for.
 *
 * @param cluster an upstream cluster of the Envoys, by its name there
 * @param priority of the routes that lead to it
 */
public record Ceiling(String cluster, Priority priority) {

  /** Envoy counts the requests of each apart. */
  public enum Priority {
    /** Of a route that says nothing. */
    DEFAULT("default"),
    /** Of a route with {@code priority: HIGH}. */
    HIGH("high");

    private final String key;

    Priority(String key) {
      this.key = key;
    }
  }

  /**
   * @throws IllegalArgumentException when the cluster has no name
   */
  public Ceiling {
    if (cluster.isEmpty()) {
      throw new IllegalArgumentException("a ceiling is for a cluster, which has a name");
    }
  }

  /** The runtime key that Envoy looks up at each request. */
  String runtimeKey() {
    return "circuit_breakers." + cluster + "." + priority.key + ".max_requests";
  }
}
