package io.throttlekit.envoy.xds;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Subscribed streams of a replica, each of which has the part of its node id and token.
 *
 * <p>A stream with the token of an older one comes from the same Envoy and takes its part over,
 * whether the older one has ended or not. For one thread at a time, except {@link #states}.
 */
final class Subscriptions {
  private final Map<String, DiscoveryStream<?, ?>> byName = new LinkedHashMap<>();
  private final Map<String, Integer> byNode = new HashMap<>();
  private final Map<String, StreamState> states = new ConcurrentHashMap<>();
  private int sharedNodes;

  /** Adds a stream; returns the older one of its part, or null if there was none. */
  @Nullable DiscoveryStream<?, ?> add(DiscoveryStream<?, ?> stream) {
    StreamState state = stream.state();
    DiscoveryStream<?, ?> older = byName.put(state.name(), stream);
    states.put(state.name(), state);
    if (older == null) {
      count(state.node(), 1);
    }
    return older;
  }

  /** Removes a stream; returns whether it was there and had not been replaced by a newer one. */
  boolean remove(DiscoveryStream<?, ?> stream) {
    StreamState state = stream.state();
    boolean removed = byName.remove(state.name(), stream);
    if (removed) {
      states.remove(state.name());
      count(state.node(), -1);
    }
    return removed;
  }

  /** Replaces the state of a stream. */
  void update(DiscoveryStream<?, ?> stream) {
    StreamState state = stream.state();
    states.replace(state.name(), state);
  }

  /** Returns all streams. */
  Collection<DiscoveryStream<?, ?>> all() {
    return byName.values();
  }

  /** Returns the states of all streams, on any thread. */
  List<StreamState> states() {
    return List.copyOf(states.values());
  }

  /** Returns the number of streams with this node id. */
  int count(String node) {
    return byNode.getOrDefault(node, 0);
  }

  /** Returns the number of node ids with several streams. */
  int sharedNodes() {
    return sharedNodes;
  }

  private void count(String node, int change) {
    int before = count(node);
    int after = before + change;
    if (after == 0) {
      byNode.remove(node);
    } else {
      byNode.put(node, after);
    }
    sharedNodes += (after > 1 ? 1 : 0) - (before > 1 ? 1 : 0);
  }
}
