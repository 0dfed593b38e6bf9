package io.throttlekit.service.concurrency.envoy.replicas;

import io.throttlekit.envoy.xds.StreamState;
import io.throttlekit.service.concurrency.envoy.replicas.ReplicaReport.Left;
import io.throttlekit.service.concurrency.sensors.LoadListener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The replicas whose reports have come to the steering one. Two processes with the same id are two
 * replicas. Not thread-safe; times are monotonic ns.
 */
public final class ReportingReplicas {
  /** Without a report for this time, a replica is gone: it reports once a second. */
  static final long GONE_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** A process that restarts is known twice for less. */
  private static final long RESTART_NANOS = TimeUnit.SECONDS.toNanos(10);

  // bounds memory
  private static final int MAX_REPLICAS = 1_000;

  private final Map<String, Replica> replicas = new HashMap<>();
  private long streams;

  /**
   * @param firstStream numbers of streams begin above this, so that they differ from own ones
   */
  public ReportingReplicas(long firstStream) {
    this.streams = firstStream;
  }

  /** One process that reports. */
  public static final class Replica {
    /** Bounds memory: the ends of streams may be lost, or too many for the replica's report. */
    private static final int MAX_STREAMS = 20_000;

    private final String id;
    private final String key;
    private final long firstNanos;

    /** Without those that have not reported for the longest time, which may have ended. */
    private final Map<Left, Long> loadStreams =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<Left, Long> eldest) {
            return size() > MAX_STREAMS;
          }
        };

    private long sequence;
    private long lastNanos;
    private List<StreamState> streams = List.of();

    private Replica(String id, String key, long nowNanos) {
      this.id = id;
      this.key = key;
      this.firstNanos = nowNanos;
      this.lastNanos = nowNanos;
    }

    /** Returns its id. */
    public String id() {
      return id;
    }

    /** Returns the key of the process, which no other one has. */
    public String key() {
      return key;
    }

    /** Replaces its discovery streams; returns whether they differ from those before. */
    public boolean replace(List<StreamState> next) {
      boolean news = !next.equals(streams);
      streams = next;
      return news;
    }

    /** Returns its discovery streams. */
    public List<StreamState> streams() {
      return streams;
    }
  }

  /** Returns the key of a process, which no other one has. */
  public static String key(String id, long incarnation) {
    return Long.toHexString(incarnation) + '@' + id;
  }

  /**
   * Returns the replica that reports.
   *
   * @throws IllegalArgumentException when the report was read before, or a later one was, or there
   *     are too many replicas
   */
  public Replica of(String id, ReplicaReport report, long nowNanos) {
    String key = key(id, report.incarnation());
    Replica replica = replicas.get(key);
    if (replica == null) {
      if (replicas.size() >= MAX_REPLICAS) {
        throw new IllegalArgumentException("more than " + MAX_REPLICAS + " replicas report");
      }
      replica = new Replica(id, key, nowNanos);
      replicas.put(key, replica);
    }
    if (report.sequence() <= replica.sequence) {
      throw new IllegalArgumentException("the report was read before, or a later one was");
    }
    replica.sequence = report.sequence();
    replica.lastNanos = nowNanos;
    return replica;
  }

  /** Returns the number of a stream of load reports, which no other replica's has, from 1. */
  public long stream(Replica replica, String node, long stream) {
    return replica.loadStreams.computeIfAbsent(new Left(node, stream), _ -> ++streams);
  }

  /** Removes a stream of load reports and returns its number; 0 if it is unknown. */
  public long left(Replica replica, Left left) {
    Long known = replica.loadStreams.remove(left);
    return known == null ? 0 : known;
  }

  /** Removes the replicas that have not reported for 3 s, and returns them. */
  public List<Replica> removeGone(long nowNanos) {
    List<Replica> gone = new ArrayList<>();
    for (Iterator<Replica> all = replicas.values().iterator(); all.hasNext(); ) {
      Replica replica = all.next();
      if (nowNanos - replica.lastNanos >= GONE_NANOS) {
        gone.add(replica);
        all.remove();
      }
    }
    return gone;
  }

  /** Passes each stream of load reports of a replica, by node and number, to {@code reader}. */
  public static void forEachStream(Replica replica, LoadListener reader) {
    replica.loadStreams.forEach((left, number) -> reader.left(left.node(), number));
  }

  /** Returns an id that two processes have had for longer than a restart takes; null for none. */
  public @Nullable String sharedId(String own, long beganNanos) {
    Map<String, Long> latestStart = new HashMap<>();
    latestStart.put(own, beganNanos);
    List<Replica> twins = new ArrayList<>();
    for (Replica replica : replicas.values()) {
      Long other = latestStart.get(replica.id);
      if (other == null || replica.firstNanos - other > 0) {
        latestStart.put(replica.id, replica.firstNanos);
      }
      if (other != null) {
        twins.add(replica);
      }
    }
    for (Replica replica : replicas.values()) {
      long start = latestStart.getOrDefault(replica.id, replica.lastNanos);
      boolean twin = twins.stream().anyMatch(each -> each.id.equals(replica.id));
      if (twin && replica.lastNanos - start > RESTART_NANOS) {
        return replica.id;
      }
    }
    return null;
  }

  /** Returns the replicas. */
  public List<Replica> all() {
    return List.copyOf(replicas.values());
  }
}
