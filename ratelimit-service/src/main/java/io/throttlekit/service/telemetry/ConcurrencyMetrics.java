package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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

  /** Rules with series of their own for refused requests, since the start of the process. */
  static final int MAX_RULES = 1_000;

  private static final AttributeKey<String> REASON = AttributeKey.stringKey("reason");
  private static final RuleName OTHER = new RuleName(SeriesName.OTHER, SeriesName.OTHER);

  /** Direction in which a limit changed. */
  private enum Direction {
    UP,
    DOWN
  }

  /** Identifies a rule in the metrics, before and after a reload. */
  private record RuleName(String domain, String path) {}

  private final Meter meter;
  private final TimeSource time;
  private final ByWord<Metric> counts;
  private final ConcurrentHashMap<RuleName, ByWord<Refusal>> refusals = new ConcurrentHashMap<>();
  private final ByWord<PermitEnd> ends;
  private final ByWord<StreamEnd> reported;
  private final ByWord<IgnoredReport> ignored;
  private final ByWord<DroppedRelease> dropped;
  private final ByWord<Direction> changes;
  private final LogInterval failureLines;

  // algorithms move their limits all the time under changing load
  private final RuleLog moves;

  /**
   * Registers the counters.
   *
   * @param time limits the rate of log lines
   */
  public ConcurrencyMetrics(Meter meter, TimeSource time) {
    this(meter, time, RuleLog.thread("limit-log"));
  }

  /**
   * @param logger writes log lines on another thread, or throws {@link RejectedExecutionException}
   */
  ConcurrencyMetrics(Meter meter, TimeSource time, Executor logger) {
    this.meter = meter;
    this.time = time;
    this.moves = new RuleLog(logger, time);
    this.failureLines = new LogInterval(RuleLog.INTERVAL, time.monotonicNanos());
    OurCounters ours = new OurCounters(meter);
    counts =
        ours.counters(
            Metric.CONCURRENCY_REFUSED_WITHOUT_LEASE, Metric.CONCURRENCY_THRESHOLD_CHANGES);
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

  /** Registers what reads {@code limiter} at every collection, and the counters of refusals. */
  public void show(ConcurrencyLimiter limiter) {
    LimitGauges.show(meter, limiter.limits()::forEach);
    LimitGauges.showTenants(
        meter,
        reader ->
            limiter.limits().forEachDivided(limit -> reader.accept(limit.rule(), limit.figures())));
    OurCounters ours = new OurCounters(meter);
    ours.gauge(PREFIX + "live_leases", "Leases that have not ended", limiter.permits()::size);
    var _ =
        ours.labelled(
            PREFIX + "refused",
            "Requests that found no room below a concurrency limit",
            measured -> {
              // Rules begin with 0, so that the first refusal is an increase.
              limiter
                  .limits()
                  .forEach((rule, _) -> {
                    var _ = refusals(rule);
                  });
              record(refusals, measured);
            });
  }

  @Override
  public void refused(Rule rule, Refusal why) {
    refusals(rule).increment(why);
  }

  private ByWord<Refusal> refusals(Rule rule) {
    RuleName name = new RuleName(rule.domain(), rule.path());
    ByWord<Refusal> known = refusals.get(name);
    if (known != null) {
      return known;
    }
    // Rules that a reload removed keep their series. Threads that race may exceed the bound by one.
    RuleName counted = refusals.size() < MAX_RULES ? name : OTHER;
    return refusals.computeIfAbsent(counted, _ -> new ByWord<>(Refusal.class));
  }

  private static void record(
      Map<RuleName, ByWord<Refusal>> refusals, ObservableLongMeasurement measured) {
    refusals.forEach((name, counters) ->
        counters.forEach((reason, count) ->
            measured.record(
                count,
                Attributes.of(
                    LimitGauges.DOMAIN,
                    name.domain,
                    LimitGauges.RULE,
                    name.path,
                    REASON,
                    reason))));
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
  public void orphansReleased(int permits) {
    counts.add(Metric.CONCURRENCY_ORPHANED_RELEASES, permits);
  }

  @Override
  public void dropped(DroppedRelease why, long releases) {
    dropped.add(why, releases);
  }

  @Override
  public void exchangeFailed(String reason) {
    counts.increment(Metric.CONCURRENCY_FAILED_EXCHANGES);
    if (failureLines.isDue(time.monotonicNanos())) {
      // if it is left out, the next line comes after the interval
      var _ =
          moves.write(() ->
              LOG.warn(
                  "releases of leases are not exchanged with other processes at present, so that"
                      + " leases may last until their ttl: {}",
                  reason));
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
    return moves.write(
        rule,
        () ->
            LOG.info(
                "the concurrency limit of {} in domain {} moved from {} to {}",
                rule.path(),
                rule.domain(),
                from,
                now));
  }

  @Override
  public void thresholdChanged(int before, int now) {
    counts.increment(Metric.CONCURRENCY_THRESHOLD_CHANGES);
  }
}
