package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.service.concurrency.Periods;
import io.throttlekit.service.concurrency.TimeoutCount;
import io.throttlekit.service.concurrency.sensors.Reading;
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
  private final Periods periods = new Periods(PERIOD_NANOS);

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
    long ended = periods.ended(nowNanos);
    if (ended > 0) {
      routes.next(ended > 1); // more than one period without requests: the counts are too old
      clients.next(ended > 1);
    }
  }

  private static final class Groups {
    private final Map<String, TimeoutCount> byName = new HashMap<>();

    /** Requests without a name, and of names beyond the maximum. */
    private final TimeoutCount others = new TimeoutCount();

    void add(String name, boolean timedOut) {
      TimeoutCount count = name.isEmpty() ? others : byName.get(name);
      if (count == null && byName.size() < MAX_GROUPS) {
        count = new TimeoutCount();
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
      TimeoutCount small = new TimeoutCount();
      TimeoutCount worst = new TimeoutCount();
      for (TimeoutCount count : byName.values()) {
        if (count.requests() >= MIN_REQUESTS) {
          tally.judge(count.requests(), count.timeouts());
        } else {
          small.add(count);
          worst = count.timeouts() > worst.timeouts() ? count : worst;
        }
      }
      // Each apart: one client must not lower the limit by timeouts that count as many clients'.
      tally.judge(worst.requests(), worst.timeouts());
      tally.judge(small.requests() - worst.requests(), small.timeouts() - worst.timeouts());
      tally.judge(others.requests(), others.timeouts());
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
