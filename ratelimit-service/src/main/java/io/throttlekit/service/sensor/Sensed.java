package io.throttlekit.service.sensor;

/**
 * Is told what Envoys say of their requests. Thread-safe and quick: it is called on event loops,
 * for several Envoys at once. Times are monotonic ns of this process.
 */
public interface Sensed {

  /**
   * A request has ended. Each is told once, as far as copies come within some ten thousand requests
   * of each other; some are never told, because logs are lost.
   *
   * @param node the id that the Envoy gives itself; empty where it gave none
   * @param reading of an entry that ends a request
   * @param beganNanos about when Envoy sent it on, or would have; never after {@code arrivedNanos}
   * @param arrivedNanos when the entry came
   */
  void ended(String node, Reading reading, long beganNanos, long arrivedNanos);

  /**
   * An Envoy reports the load of a cluster, of those too that have none.
   *
   * @param node the id that the Envoy gives itself, not empty
   * @param stream on which it reports; each has a number of its own, also where node ids are equal
   * @param arrivedNanos when the report came
   */
  void reported(String node, long stream, Load load, long arrivedNanos);

  /** A stream of load reports has ended; other streams of the same node go on. */
  void left(String node, long stream);
}
