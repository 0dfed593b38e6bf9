package io.throttlekit.service.concurrency.envoy;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Judges whether the timeouts of a cluster are evidence that its backend is overloaded.
 *
 * <p>An overloaded backend delays all routes and all clients. So a route counts as overloaded when
 * more than 5 % of its requests timed out, and the cluster when overloaded routes have more than
 * half of its requests; the same holds for clients. One slow route, or one client that sends slow
 * requests, is no evidence while it has less than that, and never whole evidence while any other is
 * answered.
 *
 * <p>Requests of the last 5 to 10 s count. At most {@value #MAX_GROUPS} routes and as many clients
 * are tracked separately; all others are judged together. So are those with fewer than {@value
 * #MIN_REQUESTS} requests, except the one with most timeouts, which is judged by itself. Times are
 * monotonic ns. Not thread-safe.
 */
final class Timeouts {
  /**
   * Maximum of routes, and of clients, that are tracked separately; bounds the memory of a cluster.
   */
  private static final int MAX_GROUPS = 64;

  /** Minimum of requests to judge a group by: one timeout of three requests proves nothing. */
  private static final int MIN_REQUESTS = 20;

  /**
   * Fraction of timeouts above which a group is overloaded; limit algorithms back off from the
   * same.
   */
  private static final double OVERLOADED = 0.05;

  /** Length of a period; the current and the previous one count. */
  private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Groups routes = new Groups();
  private final Groups clients = new Groups();
  private boolean begun;
  private long periodNanos;

  /** The extent to which timeouts are evidence of overload. */
  enum Evidence {
    /** Too few routes or clients are affected. */
    NONE,
    /** Most requests are affected, but another route or client is answered. */
    PARTIAL,
    /** All routes and clients are affected, or there is only one of each. */
    WHOLE
  }

  /** Counts a request that was answered or timed out; ignores other outcomes. */
  void ended(Reading reading, long nowNanos) {
    boolean timedOut = reading.kind().isDrop();
    if (timedOut || reading.kind().isSample()) {
      roll(nowNanos);
      routes.add(reading.route(), timedOut);
      clients.add(reading.client(), timedOut);
    }
  }

  /** Returns the weaker of the evidence by route and by client. */
  Evidence evidence(long nowNanos) {
    roll(nowNanos);
    Evidence byRoute = routes.evidence();
    Evidence byClient = clients.evidence();
    return byRoute.compareTo(byClient) < 0 ? byRoute : byClient;
  }

  private void roll(long nowNanos) {
    if (!begun) {
      begun = true;
      periodNanos = nowNanos;
    }
    long periods = (nowNanos - periodNanos) / PERIOD_NANOS;
    if (periods > 0) {
      periodNanos += periods * PERIOD_NANOS;
      routes.next(periods > 1); // more than one period without requests: the counts are too old
      clients.next(periods > 1);
    }
  }

  private static final class Count {
    long requests;
    long timeouts;
    long requestsBefore;
    long timeoutsBefore;

    void add(boolean timedOut) {
      requests++;
      timeouts += timedOut ? 1 : 0;
    }

    void add(Count other) {
      requests += other.allRequests();
      timeouts += other.allTimeouts();
    }

    /** Begins a period; returns whether the last one had requests. */
    boolean next(boolean forgetAll) {
      requestsBefore = forgetAll ? 0 : requests;
      timeoutsBefore = forgetAll ? 0 : timeouts;
      requests = 0;
      timeouts = 0;
      return requestsBefore > 0;
    }

    long allRequests() {
      return requests + requestsBefore;
    }

    long allTimeouts() {
      return timeouts + timeoutsBefore;
    }
  }

  private static final class Groups {
    private final Map<String, Count> byName = new HashMap<>();

    /** Requests without a name, and of names beyond the maximum. */
    private final Count others = new Count();

    void add(String name, boolean timedOut) {
      Count count = name.isEmpty() ? others : byName.get(name);
      if (count == null && byName.size() < MAX_GROUPS) {
        count = new Count();
        byName.put(name, count);
      }
      (count == null ? others : count).add(timedOut);
    }

    void next(boolean forgetAll) {
      byName.values().removeIf(count -> !count.next(forgetAll));
      var _ = others.next(forgetAll);
    }

    Evidence evidence() {
      Tally tally = new Tally();
      Count small = new Count();
      Count worst = new Count();
      for (Count count : byName.values()) {
        if (count.allRequests() >= MIN_REQUESTS) {
          tally.judge(count.allRequests(), count.allTimeouts());
        } else {
          small.add(count);
          worst = count.allTimeouts() > worst.allTimeouts() ? count : worst;
        }
      }
      // Each apart: one client must not lower the limit by timeouts that count as many clients'.
      tally.judge(worst.allRequests(), worst.allTimeouts());
      tally.judge(
          small.allRequests() - worst.allRequests(), small.allTimeouts() - worst.allTimeouts());
      tally.judge(others.allRequests(), others.allTimeouts());
      return tally.evidence();
    }
  }

  /** Requests of overloaded and of healthy groups. */
  private static final class Tally {
    private long affected;
    private long healthy;

    void judge(long requests, long timeouts) {
      if (timeouts > OVERLOADED * requests) {
        affected += requests;
      } else {
        // Even a few: one client must not lower the limit alone while others are answered.
        healthy += requests;
      }
    }

    Evidence evidence() {
      if (affected <= healthy) { // half or less
        return Evidence.NONE;
      }
      return healthy > 0 ? Evidence.PARTIAL : Evidence.WHOLE;
    }
  }
}
