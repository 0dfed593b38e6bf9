package io.throttlekit.service.sensor;

/**
 * Listens for outcomes and loads that Envoys report. Implementations are thread-safe and fast: they
 * are called on event loops, for several Envoys at once. Times are monotonic ns of this process.
 */
public interface OutcomeListener {

  /**
   * Notifies that a request has ended. Duplicates are removed if they come within about ten
   * thousand requests; some ends are never reported, because logs are lost.
   *
   * @param node the id that the Envoy announced; empty where it announced none
   * @param reading of an entry that ends a request
   * @param beganNanos about when Envoy forwarded it, or would have; never after {@code
   *     arrivedNanos}
   * @param arrivedNanos when the entry arrived
   */
  void ended(String node, Reading reading, long beganNanos, long arrivedNanos);

  /**
   * Notifies of a cluster's load, also of clusters without load.
   *
   * @param node the id that the Envoy announced, not empty
   * @param stream number of the stream that reports, unique even where node ids are equal
   * @param arrivedNanos when the report arrived
   */
  void reported(String node, long stream, ClusterLoad load, long arrivedNanos);

  /**
   * Notifies that a stream of load reports has ended; other streams of the same node may continue.
   */
  void left(String node, long stream);
}
