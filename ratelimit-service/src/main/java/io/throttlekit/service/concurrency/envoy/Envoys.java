package io.throttlekit.service.concurrency.envoy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The demand of each Envoy for one cluster: its requests in flight and its refused requests.
 *
 * <p>In flight is the exact number that an Envoy reports. Without fresh reports it is estimated
 * with Little's law from the latencies of finished requests; the estimate covers the last seconds
 * and misses requests that do not end. Reports on several streams of one node id are added up. No
 * Envoy counts for more in flight than it was granted. At most 10,000 Envoys are kept, and those
 * that have shares; others are ignored. Times are monotonic ns. Called by one thread at a time.
 */
final class Envoys {
  // bounds memory against made-up node ids
  private static final int MAX_ENVOYS = 10_000;

  /**
   * Age up to which a report is used. Reports come every second; an Envoy that lost its stream
   * reconnects within 5 s.
   */
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(3);

  /**
   * Span of an estimate. With a log that is sent once a second, the estimate is wrong by a quarter
   * at most.
   */
  private static final int REMEMBERED_SECONDS = 4;

  // sums of a few Envoys stay far from overflow, results fit an int
  private static final int MAX_REQUESTS = 1 << 30;

  /**
   * Age of the cached sum: counting all Envoys for each of thousands of log entries a second costs
   * too much.
   */
  private static final long RECENT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Map<String, Envoy> envoys = new HashMap<>();

  /**
   * Granted requests by node id; null before shares are known, when reports are taken as they are.
   */
  private @Nullable Map<String, Long> granted;

  private int grantedToAll = MAX_REQUESTS;

  private boolean counted;
  private long countedNanos;

  /** Requests in flight at the last full count, updated by the reports received after it. */
  private long sum;

  /**
   * The demand of an Envoy.
   *
   * @param inFlight requests in flight, reported or estimated
   * @param refused requests that the concurrency limit refused there in this period
   * @param exact whether {@code inFlight} was reported
   * @param seenNanos when the last report or entry of the Envoy arrived
   */
  record Demand(String node, int inFlight, long refused, boolean exact, long seenNanos) {}

  /** Records the requests in flight that an Envoy reports. */
  void reported(String node, long stream, long requests, long nowNanos) {
    Envoy envoy = envoy(node, nowNanos);
    if (envoy != null) {
      Report latest = new Report(Math.clamp(requests, 0, MAX_REQUESTS), nowNanos);
      Report before = envoy.reports.put(stream, latest);
      if (before != null && nowNanos - before.nanos >= FRESH_NANOS) {
        before = null; // no longer counted, or not after the next count
        counted = false;
      }
      // Not counted anew: an Envoy may have the reports of very many streams.
      envoy.reported += latest.requests - (before == null ? 0 : before.requests);
      include(node, envoy, Math.min(MAX_REQUESTS, envoy.reported));
    }
  }

  /** Records a finished request with the latency of its backend. */
  void ended(String node, long latencyNanos, long nowNanos) {
    Envoy envoy = envoy(node, nowNanos);
    if (envoy != null) {
      envoy.occupied.add((double) latencyNanos, nowNanos);
    }
  }

  /** Records a request that an Envoy refused because of the concurrency limit. */
  void refused(String node, long nowNanos) {
    Envoy envoy = envoy(node, nowNanos);
    if (envoy != null) {
      envoy.refused++;
    }
  }

  /** Removes the report of a stream; other data of its Envoy expires. */
  void left(String node, long stream) {
    Envoy envoy = envoys.get(node);
    if (envoy != null && envoy.reports.remove(stream) != null) {
      counted = false;
    }
  }

  /** Replaces the granted requests in flight of each Envoy. */
  void granted(Map<String, Long> requests) {
    granted = requests;
    long all = requests.values().stream().mapToLong(Long::longValue).sum();
    grantedToAll = Math.clamp(all, 0, MAX_REQUESTS);
    counted = false;
  }

  /** Returns whether an Envoy has a share; true before shares are known. */
  boolean mayHaveInFlight(String node) {
    return cap(node) > 0;
  }

  /** Returns whether an Envoy has requested its shares; true before shares are known. */
  boolean mayReport(String node) {
    return granted == null || granted.containsKey(node);
  }

  /** Returns of how many streams of an Envoy the reports are kept. */
  int reports(String node) {
    Envoy envoy = envoys.get(node);
    return envoy == null ? 0 : envoy.reports.size();
  }

  /** Returns the requests in flight at all Envoys together, from 0, at most 20 ms old. */
  int inFlight(long nowNanos) {
    count(nowNanos);
    return Math.clamp(sum, 0, MAX_REQUESTS);
  }

  /**
   * Returns the granted requests in flight of all Envoys together; 2^30 before shares are known.
   */
  int granted() {
    return grantedToAll;
  }

  private void count(long nowNanos) {
    if (!counted || nowNanos - countedNanos >= RECENT_NANOS) {
      counted = true;
      countedNanos = nowNanos;
      envoys.forEach((node, envoy) -> recount(node, envoy, nowNanos));
    }
  }

  /**
   * Returns the demand of each Envoy, resets the counts of refusals, and removes Envoys without
   * recent data.
   */
  List<Demand> demands(long nowNanos) {
    envoys
        .values()
        .removeIf(envoy -> {
          boolean silent = envoy.isSilent(nowNanos);
          sum -= silent ? envoy.inSum : 0;
          return silent;
        });
    List<Demand> demands = new ArrayList<>(envoys.size());
    envoys.forEach((node, envoy) -> {
      envoy.forgetOldReports(nowNanos);
      demands.add(
          new Demand(
              node,
              envoy.inFlight(nowNanos),
              envoy.refused,
              envoy.fresh(nowNanos),
              envoy.seenNanos));
      envoy.refused = 0;
    });
    return demands;
  }

  private void recount(String node, Envoy envoy, long nowNanos) {
    include(node, envoy, envoy.inFlight(nowNanos));
  }

  private void include(String node, Envoy envoy, long requests) {
    int inFlight = (int) Math.min(requests, cap(node));
    sum += inFlight - envoy.inSum;
    envoy.inSum = inFlight;
  }

  private long cap(String node) {
    return granted == null ? MAX_REQUESTS : granted.getOrDefault(node, 0L);
  }

  private @Nullable Envoy envoy(String node, long nowNanos) {
    Envoy known = envoys.get(node);
    if (known == null && (envoys.size() < MAX_ENVOYS || (granted != null && mayReport(node)))) {
      known = new Envoy(nowNanos);
      envoys.put(node, known);
    }
    if (known != null) {
      known.seenNanos = nowNanos;
    }
    return known;
  }

  /** The latest report of a stream. */
  private record Report(int requests, long nanos) {}

  private static final class Envoy {
    final LastSeconds occupied;

    /** By stream. An Envoy has several if it reconnects or shares its node id with another. */
    final Map<Long, Report> reports = HashMap.newHashMap(1);

    /** Sum of the reports that were fresh when they were last counted, and of later ones. */
    long reported;

    long refused;
    long seenNanos;

    /** Its part of {@code sum}. */
    int inSum;

    Envoy(long nowNanos) {
      occupied = new LastSeconds(REMEMBERED_SECONDS, nowNanos);
    }

    boolean fresh(long nowNanos) {
      return reported(nowNanos) >= 0;
    }

    /** Bounds memory: the ends of streams of other replicas may be lost. */
    void forgetOldReports(long nowNanos) {
      reports.values().removeIf(report -> nowNanos - report.nanos >= FRESH_NANOS);
    }

    boolean isSilent(long nowNanos) {
      return !fresh(nowNanos) && refused == 0 && occupied.sum(nowNanos) == 0;
    }

    /** Returns the reported requests in flight, or the estimate. */
    int inFlight(long nowNanos) {
      long fresh = reported(nowNanos);
      reported = Math.max(0, fresh);
      long inFlight = fresh >= 0 ? fresh : (long) Math.ceil(occupied.perNano(nowNanos));
      return (int) Math.min(MAX_REQUESTS, inFlight);
    }

    /** Returns the sum of the fresh reports; -1 if there is none. */
    private long reported(long nowNanos) {
      long sum = -1;
      for (Report report : reports.values()) {
        if (nowNanos - report.nanos < FRESH_NANOS) {
          sum = Math.max(0, sum) + report.requests;
        }
      }
      return sum;
    }
  }
}
