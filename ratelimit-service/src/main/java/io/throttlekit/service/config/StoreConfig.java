package io.throttlekit.service.config;

/**
 * Where counters live.
 *
 * @param uri {@code memory} for this process
 * @param maxCounters most counters kept; beyond it the least useful one is forgotten
 */
public record StoreConfig(String uri, long maxCounters) {

  /** What is in force when nothing is configured. */
  public static StoreConfig defaults() {
    return new StoreConfig("memory", 1_000_000);
  }
}
