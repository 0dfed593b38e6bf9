package io.throttlekit.service.steering;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What each Envoy could use of one cluster: what it has in flight there and what it refused.
 *
 * <p>In flight is what an Envoy reports itself, which is exact, or else follows by Little's law
 * from the latencies of the requests that ended: an estimate of the seconds before, that knows
 * nothing of requests that do not end. Reports on several streams of one node id are added up, and
 * none takes the place of another. Whatever is reported or estimated, an Envoy has no more in
 * flight than it was granted. A number of Envoys is remembered; of more, nothing is known. Times
 * are monotonic ns. Called by one thread at a time.
 */
final class Envoys {
  private static final int MOST_ENVOYS = 10_000;

  /** Reports come each second; an Envoy that lost its stream is back after 5 s. */
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** A log that comes once a second makes an estimate over so many wrong by a quarter at most. */
  private static final int REMEMBERED_SECONDS = 4;

  private static final int MOST = 1 << 30;

  /** How old an estimate may be: a log tells of thousands of requests a second. */
  private static final long RECENT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Map<String, Envoy> envoys = new HashMap<>();

  /** By node id; absent before shares are known, when reports are taken as they are. */
  private @Nullable Map<String, Long> granted;

  private boolean counted;
  private long countedNanos;

  /** In flight when it was counted, and what was reported since. */
  private long sum;

  /**
   * What an Envoy could use.
   *
   * @param inFlight requests that it has in flight, by its own count or by estimate
   * @param refused requests that the ceiling refused there since the last time
   * @param exact whether it counted itself
   */
  record Demand(String node, int inFlight, long refused, boolean exact) {}

  /** Learns what an Envoy counts itself. */
  void reported(String node, long stream, long requests, long nowNanos) {
    Envoy envoy = envoy(node, nowNanos);
    if (envoy != null) {
      envoy.reports.put(stream, new Report(Math.clamp(requests, 0, MOST), nowNanos));
      recount(node, envoy, nowNanos);
    }
  }

  /** Learns that a request has ended that the backend worked on for so long. */
  void ended(String node, long latencyNanos, long nowNanos) {
    Envoy envoy = envoy(node, nowNanos);
    if (envoy != null) {
      envoy.occupied.add((double) latencyNanos, nowNanos);
    }
  }

  /** Learns that an Envoy refused a request because of the ceiling. */
  void refused(String node, long nowNanos) {
    Envoy envoy = envoy(node, nowNanos);
    if (envoy != null) {
      envoy.refused++;
    }
  }

  /** Forgets what was reported on a stream; what else is known of its Envoy ages by itself. */
  void left(String node, long stream) {
    Envoy envoy = envoys.get(node);
    if (envoy != null && envoy.reports.remove(stream) != null) {
      counted = false;
    }
  }

  /** Learns what each Envoy may have in flight; it replaces what was granted before. */
  void granted(Map<String, Long> requests) {
    granted = requests;
    counted = false;
  }

  /** Returns whether an Envoy has a share, as far as shares are known. */
  boolean mayHaveInFlight(String node) {
    return cap(node) > 0;
  }

  /** Returns whether an Envoy has come for its shares, as far as shares are known. */
  boolean mayReport(String node) {
    return granted == null || granted.containsKey(node);
  }

  /** Requests in flight at all Envoys together, from 0, as they were 20 ms ago at most. */
  int inFlight(long nowNanos) {
    if (!counted || nowNanos - countedNanos >= RECENT_NANOS) {
      counted = true;
      countedNanos = nowNanos;
      envoys.forEach((node, envoy) -> recount(node, envoy, nowNanos));
    }
    return Math.clamp(sum, 0, MOST);
  }

  /** What each could use. Counts of refusals begin anew, and who is silent is forgotten. */
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
      demands.add(new Demand(node, envoy.inFlight(nowNanos), envoy.refused, envoy.fresh(nowNanos)));
      envoy.refused = 0;
    });
    return demands;
  }

  private void recount(String node, Envoy envoy, long nowNanos) {
    int inFlight = (int) Math.min(envoy.inFlight(nowNanos), cap(node));
    sum += inFlight - envoy.inSum;
    envoy.inSum = inFlight;
  }

  private long cap(String node) {
    return granted == null ? MOST : granted.getOrDefault(node, 0L);
  }

  private @Nullable Envoy envoy(String node, long nowNanos) {
    Envoy known = envoys.get(node);
    if (known == null && (envoys.size() < MOST_ENVOYS || (granted != null && mayReport(node)))) {
      known = new Envoy(nowNanos);
      envoys.put(node, known);
    }
    return known;
  }

  /** The last of a stream. */
  private record Report(int requests, long nanos) {
    boolean fresh(long nowNanos) {
      return nowNanos - nanos < FRESH_NANOS;
    }
  }

  private static final class Envoy {
    final LastSeconds occupied;

    /** By stream: more than one where an Envoy comes back, or shares its node id with another. */
    final Map<Long, Report> reports = HashMap.newHashMap(1);

    long refused;

    /** What the sum has of it. */
    int inSum;

    Envoy(long nowNanos) {
      occupied = new LastSeconds(REMEMBERED_SECONDS, nowNanos);
    }

    boolean fresh(long nowNanos) {
      for (Report report : reports.values()) {
        if (report.fresh(nowNanos)) {
          return true;
        }
      }
      return false;
    }

    boolean isSilent(long nowNanos) {
      return !fresh(nowNanos) && refused == 0 && occupied.sum(nowNanos) == 0;
    }

    /** By its own count, or by estimate. */
    int inFlight(long nowNanos) {
      long reported = 0;
      boolean fresh = false;
      for (Report report : reports.values()) {
        if (report.fresh(nowNanos)) {
          fresh = true;
          reported += report.requests;
        }
      }
      return (int) Math.min(MOST, fresh ? reported : (long) Math.ceil(occupied.perNano(nowNanos)));
    }
  }
}
