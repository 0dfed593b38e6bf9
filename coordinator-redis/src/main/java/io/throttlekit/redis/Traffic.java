package io.throttlekit.redis;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;

/**
 * The calls of a lane to one node: waiting ones, and round trips in flight in the order of sending.
 * Used on the event loop of the lane.
 */
final class Traffic<C extends Call<?>> {
  final String node;
  final Deque<C> waiting = new ArrayDeque<>();
  final Queue<RoundTrip<C, ?>> trips = new ArrayDeque<>();

  /** When a failure was last counted, by the monotonic clock; at first before the first trip. */
  long refusedNanos;

  Traffic(String node, long nowNanos) {
    this.node = node;
    this.refusedNanos = nowNanos - 1;
  }

  boolean isIdle() {
    return waiting.isEmpty() && trips.isEmpty();
  }
}
