package io.throttlekit.envoy.xds;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The streams of all replicas, by the name of their part: usually one for each part, and two for a
 * moment when an Envoy moves to another replica. For one thread at a time.
 */
final class ReportedStreams {
  private final Map<String, Map<String, StreamState>> byReplica = new LinkedHashMap<>();
  private final Set<String> departed = new LinkedHashSet<>();
  private Map<String, StreamState> live = Map.of();
  private boolean stale;

  /**
   * Replaces the streams of a replica, and passes those that are new or changed to {@code news}.
   */
  void replace(String replica, List<StreamState> streams, Consumer<StreamState> news) {
    Map<String, StreamState> next = LinkedHashMap.newLinkedHashMap(streams.size());
    for (StreamState stream : streams) {
      next.merge(stream.name(), stream, ReportedStreams::both);
    }
    Map<String, StreamState> before =
        Objects.requireNonNullElse(byReplica.put(replica, next), Map.of());
    if (next.equals(before)) {
      return;
    }
    stale = true;
    next.forEach((name, stream) -> {
      if (!stream.equals(before.get(name))) {
        news.accept(stream);
      }
    });
    depart(before, next);
  }

  /** Removes a replica. */
  void remove(String replica) {
    Map<String, StreamState> before = byReplica.remove(replica);
    if (before != null) {
      stale = true;
      depart(before, Map.of());
    }
  }

  private void depart(Map<String, StreamState> before, Map<String, StreamState> next) {
    before.keySet().stream().filter(name -> !next.containsKey(name)).forEach(departed::add);
  }

  /** Passes the parts that lost their last stream since the last call to {@code reader}. */
  void drainDeparted(Consumer<String> reader) {
    departed.forEach(name -> {
      if (!live().containsKey(name)) {
        reader.accept(name);
      }
    });
    departed.clear();
  }

  /** Returns the parts with a stream, and what is known of all their streams. */
  Map<String, StreamState> live() {
    if (stale) {
      Map<String, StreamState> all = new LinkedHashMap<>();
      byReplica
          .values()
          .forEach(streams ->
              streams.forEach((name, stream) -> all.merge(name, stream, ReportedStreams::both)));
      live = all;
      stale = false;
    }
    return live;
  }

  /** Returns the number of streams. */
  int count() {
    return byReplica.values().stream().mapToInt(Map::size).sum();
  }

  /** Returns the number of node ids with several parts that have a stream. */
  int sharedNodes() {
    Map<String, Integer> parts = new HashMap<>();
    live().values().forEach(stream -> parts.merge(stream.node(), 1, Integer::sum));
    return (int) parts.values().stream().filter(count -> count > 1).count();
  }

  private static StreamState both(StreamState one, StreamState other) {
    Map<ClusterLimit, Integer> mayApply = new HashMap<>(one.mayApply());
    other.mayApply().forEach((limit, share) -> mayApply.merge(limit, share, Math::max));
    return new StreamState(
        one.node(),
        one.token(),
        Math.max(one.sent(), other.sent()),
        Math.max(one.acknowledged(), other.acknowledged()),
        mayApply);
  }
}
