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
 * nothing of requests that do not end. A number of Envoys is remembered; of more, nothing is known.
 * Times are monotonic ns. Called by one thread at a time.
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
  void reported(String node, long requests, long nowNanos) {
    Envoy envoy = envoy(node, nowNanos);
    if (envoy != null) {
      int inFlight = Math.clamp(requests, 0, MOST);
      counted &= envoy.fresh(nowNanos); // else the sum has an estimate of it
      sum += inFlight - envoy.requests;
      envoy.reported = true;
      envoy.reportedNanos = nowNanos;
      envoy.requests = inFlight;
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

  /** Forgets an Envoy. */
  void left(String node) {
    counted = false;
    envoys.remove(node);
  }

  /** Requests in flight at all Envoys together, from 0, as they were 20 ms ago at most. */
  int inFlight(long nowNanos) {
    if (!counted || nowNanos - countedNanos >= RECENT_NANOS) {
      sum = 0;
      for (Envoy envoy : envoys.values()) {
        sum += envoy.inFlight(nowNanos);
      }
      counted = true;
      countedNanos = nowNanos;
    }
    return Math.clamp(sum, 0, MOST);
  }

  /** What each could use. Counts of refusals begin anew, and who is silent is forgotten. */
  List<Demand> demands(long nowNanos) {
    envoys.values().removeIf(envoy -> envoy.isSilent(nowNanos));
    List<Demand> demands = new ArrayList<>(envoys.size());
    envoys.forEach((node, envoy) -> {
      demands.add(new Demand(node, envoy.inFlight(nowNanos), envoy.refused, envoy.fresh(nowNanos)));
      envoy.refused = 0;
    });
    return demands;
  }

  private @Nullable Envoy envoy(String node, long nowNanos) {
    Envoy known = envoys.get(node);
    if (known == null && envoys.size() < MOST_ENVOYS) {
      known = new Envoy(nowNanos);
      envoys.put(node, known);
    }
    return known;
  }

  private static final class Envoy {
    final LastSeconds occupied;
    boolean reported;
    long reportedNanos;
    int requests;
    long refused;

    Envoy(long nowNanos) {
      occupied = new LastSeconds(REMEMBERED_SECONDS, nowNanos);
    }

    boolean fresh(long nowNanos) {
      return reported && nowNanos - reportedNanos < FRESH_NANOS;
    }

    boolean isSilent(long nowNanos) {
      return !fresh(nowNanos) && refused == 0 && occupied.sum(nowNanos) == 0;
    }

    int inFlight(long nowNanos) {
      return fresh(nowNanos)
          ? requests
          : (int) Math.min(MOST, Math.ceil(occupied.perNano(nowNanos)));
    }
  }
}
