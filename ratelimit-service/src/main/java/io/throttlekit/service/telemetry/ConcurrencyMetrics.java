package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.DroppedRelease;
import io.throttlekit.service.concurrency.IgnoredReport;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.concurrency.StreamEnd;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metrics of the concurrency limits and their leases.
 *
 * <p>No label comes from a request. Create once. Thread-safe.
 */
public final class ConcurrencyMetrics implements ConcurrencyListener {
  private static final Logger LOG = LoggerFactory.getLogger(ConcurrencyMetrics.class);
  private static final String PREFIX = "throttlekit_concurrency_";
  // algorithms move their limits all the time under changing load
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);
  // lines that wait for a slow log; more are left out
  private static final int MAX_PENDING_LINES = 20;
  // rules are few, but reloads rename them: bounds memory
  private static final int MAX_LOGGED_RULES = 1_000;

  /** Direction in which a limit changed. */
  private enum Direction {
    UP,
    DOWN
  }

  private final Meter meter;
  private final TimeSource time;
  private final Executor logger;
  private final ByWord<Metric> counts;
  private final ByWord<Refusal> refusals;
  private final ByWord<PermitEnd> ends;
  private final ByWord<StreamEnd> reported;
  private final ByWord<IgnoredReport> ignored;
  private final ByWord<DroppedRelease> dropped;
  private final ByWord<Direction> changes;
  private final LogInterval failureLines;
  private final Map<String, LogInterval> lines = new ConcurrentHashMap<>();

  /**
   * Registers the counters.
   *
   * @param time limits the rate of log lines
   */
  public ConcurrencyMetrics(Meter meter, TimeSource time) {
    this(meter, time, logger());
  }

  /**
   * @param logger writes log lines on another thread, or throws {@link RejectedExecutionException}
   */
  ConcurrencyMetrics(Meter meter, TimeSource time, Executor logger) {
    this.meter = meter;
    this.time = time;
    this.logger = logger;
    this.failureLines = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
    OurCounters ours = new OurCounters(meter);
    counts =
        ours.counters(
            Metric.CONCURRENCY_REFUSED_WITHOUT_LEASE, Metric.CONCURRENCY_THRESHOLD_CHANGES);
    refusals =
        ours.counters(
            PREFIX + "refused",
            "Requests that found no room below a concurrency limit",
            "reason",
            Refusal.class);
    ends = ours.counters(PREFIX + "released", "Leases that ended", "by", PermitEnd.class);
    reported =
        ours.counters(
            PREFIX + "reported_ends",
            "Leases whose release reported how the request ended",
            "kind",
            StreamEnd.class);
    ignored =
        ours.counters(
            PREFIX + "ignored_reports",
            "Values beside releases that were ignored",
            "reason",
            IgnoredReport.class);
    dropped =
        ours.counters(
            PREFIX + "dropped_releases",
            "Releases that were not forwarded to the process of their lease",
            "reason",
            DroppedRelease.class);
    changes =
        ours.counters(PREFIX + "limit_changes", "Changes of limits", "direction", Direction.class);
  }

  /** Returns a thread for log lines, because the event loops that change limits must not block. */
  private static Executor logger() {
    return new ThreadPoolExecutor(
        0, // no thread while nothing is logged
        1,
        LOG_INTERVAL.toMillis(),
        TimeUnit.MILLISECONDS,
        new ArrayBlockingQueue<>(MAX_PENDING_LINES),
        Thread.ofPlatform().daemon().name("limit-log").factory());
  }

  /** Registers the gauges, which read {@code limiter} at every collection. */
  public void show(ConcurrencyLimiter limiter) {
    LimitGauges.show(meter, limiter.limits()::forEach);
    new OurCounters(meter)
        .gauge(PREFIX + "live_leases", "Leases that have not ended", limiter.permits()::size);
  }

  @Override
  public void refused(Refusal why) {
    refusals.increment(why);
  }

  @Override
  public void noRoomForPermits() {
    counts.increment(Metric.CONCURRENCY_REFUSED_WITHOUT_LEASE);
  }

  @Override
  public void acquired() {
    counts.increment(Metric.CONCURRENCY_LEASES);
  }

  @Override
  public void ended(PermitEnd how) {
    ends.increment(how);
  }

  @Override
  public void stale() {
    counts.increment(Metric.CONCURRENCY_STALE_RELEASES);
  }

  @Override
  public void forwarded(int releases) {
    counts.add(Metric.CONCURRENCY_FORWARDED_RELEASES, releases);
  }

  @Override
  public void received(int releases) {
    counts.add(Metric.CONCURRENCY_RECEIVED_RELEASES, releases);
  }

  @Override
  public void dropped(DroppedRelease why, long releases) {
    dropped.add(why, releases);
  }

  @Override
  public void exchangeFailed(String reason) {
    counts.increment(Metric.CONCURRENCY_FAILED_EXCHANGES);
    if (failureLines.isDue(time.monotonicNanos())) {
      try {
        logger.execute(() ->
            LOG.warn(
                "releases of leases are not exchanged with other processes at present, so that"
                    + " leases may last until their ttl: {}",
                reason));
      } catch (RejectedExecutionException _) {
        // the next line comes after the interval
      }
    }
  }

  @Override
  public void reported(StreamEnd end) {
    reported.increment(end);
  }

  @Override
  public void ignored(IgnoredReport why) {
    ignored.increment(why);
  }

  @Override
  public void limitChanged(Rule rule, int before, int now) {
    changes.increment(now > before ? Direction.UP : Direction.DOWN);
  }

  @Override
  public boolean limitMoved(Rule rule, int from, int now) {
    long nanos = time.monotonicNanos();
    String name = rule.domain() + ": " + rule.path();
    if (lines.size() >= MAX_LOGGED_RULES && !lines.containsKey(name)) {
      name = "other rules"; // which then share one line per interval
    }
    if (!lines.computeIfAbsent(name, _ -> new LogInterval(LOG_INTERVAL, nanos)).isDue(nanos)) {
      return false;
    }
    try {
      logger.execute(() ->
          LOG.info(
              "the concurrency limit of {} in domain {} moved from {} to {}",
              rule.path(),
              rule.domain(),
              from,
              now));
      return true;
    } catch (RejectedExecutionException tooManyLines) {
      return false;
    }
  }

  @Override
  public void thresholdChanged(int before, int now) {
    counts.increment(Metric.CONCURRENCY_THRESHOLD_CHANGES);
  }
}
