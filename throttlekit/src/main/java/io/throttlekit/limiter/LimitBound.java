package io.throttlekit.limiter;

/**
 * A bound of a limiter below its own limit, set from outside this process. Thread-safe; its methods
 * never block.
 */
public interface LimitBound {
  /** No bound. */
  LimitBound NONE = () -> Integer.MAX_VALUE;

  /** Returns the most requests in flight, from 0. Called with locks held: calls no other code. */
  int requests();

  /**
   * A request has ended.
   *
   * @param inFlight requests that are still in flight
   */
  default void released(int inFlight) {}

  /** A request found no free permit. */
  default void refused() {}

  /** A request found free permits, all of them reserved for other tenants. */
  default void heldBack() {}
}
