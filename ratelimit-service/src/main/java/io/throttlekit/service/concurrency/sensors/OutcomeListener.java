package io.throttlekit.service.concurrency.sensors;

/**
 * Listens for the outcomes of requests that Envoys log. Implementations are thread-safe and fast:
 * they are called on event loops, for several Envoys at once.
 */
@FunctionalInterface
public interface OutcomeListener {
  /**
   * Notifies that a request has ended. Duplicates are removed if they come within about ten
   * thousand requests; some ends are never reported, because logs are lost. Times are monotonic ns
   * of this process.
   *
   * @param node the id that the Envoy announced; empty where it announced none
   * @param reading of an entry that ends a request
   * @param beganNanos about when Envoy forwarded it, or would have; never after {@code
   *     arrivedNanos}
   * @param arrivedNanos when the entry arrived
   */
  void ended(String node, Reading reading, long beganNanos, long arrivedNanos);

  /** Returns a listener that notifies this one and then another. */
  default OutcomeListener andThen(OutcomeListener other) {
    return (node, reading, beganNanos, arrivedNanos) -> {
      ended(node, reading, beganNanos, arrivedNanos);
      other.ended(node, reading, beganNanos, arrivedNanos);
    };
  }
}
