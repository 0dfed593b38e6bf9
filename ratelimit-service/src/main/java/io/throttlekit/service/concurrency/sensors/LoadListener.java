package io.throttlekit.service.concurrency.sensors;

/**
 * Listens for the loads that Envoys report. Implementations are thread-safe and fast: they are
 * called on event loops, for several Envoys at once.
 */
public interface LoadListener {
  /** A listener that ignores every report. */
  LoadListener NONE = new LoadListener() {};

  /**
   * Notifies of a cluster's load, also of clusters without load.
   *
   * @param node the id that the Envoy announced, not empty
   * @param stream number of the stream that reports, unique even where node ids are equal
   * @param arrivedNanos when the report arrived, in monotonic ns of this process
   */
  default void reported(String node, long stream, ClusterLoad load, long arrivedNanos) {}

  /**
   * Notifies that a stream of load reports has ended; other streams of the same node may continue.
   */
  default void left(String node, long stream) {}
}
