package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.ConcurrencyLimits;
import io.throttlekit.service.concurrency.FleetListener;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.share.FleetFigures;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metrics and log lines of the concurrency limits that replicas share.
 *
 * <p>No label comes from a request. Create once. Thread-safe.
 */
public final class FleetMetrics implements FleetListener {
  private static final Logger LOG = LoggerFactory.getLogger(FleetMetrics.class);
  private static final String PREFIX = "throttlekit_concurrency_";

  // all limits of a rule are fenced and unfenced together
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);
  // lines that wait for a slow log; more are left out
  private static final int MAX_PENDING_LINES = 20;
  // rules are few, but reloads rename them: bounds memory
  private static final int MAX_LOGGED_RULES = 1_000;

  private final Meter meter;
  private final TimeSource time;
  private final Executor logger;
  private final LongAdder failures = new LongAdder();
  private final AtomicBoolean sameNodeLogged = new AtomicBoolean();
  private final Map<String, LogInterval> fences = new ConcurrentHashMap<>();
  private final Map<String, LogInterval> recoveries = new ConcurrentHashMap<>();
  private volatile String lastFailure = "";

  /**
   * Registers the counters.
   *
   * @param time limits the rate of log lines
   */
  public FleetMetrics(Meter meter, TimeSource time) {
    this(meter, time, logger());
  }

  /**
   * @param logger writes log lines on another thread, or throws {@link RejectedExecutionException}
   */
  FleetMetrics(Meter meter, TimeSource time, Executor logger) {
    this.meter = meter;
    this.time = time;
    this.logger = logger;
    var _ =
        new OurCounters(meter)
            .counter(
                PREFIX + "heartbeat_failures",
                "Heartbeats for shares of concurrency limits that the store did not answer",
                failures::sum);
  }

  /** Returns a thread for log lines, because event loops, which notify this, must not block. */
  private static Executor logger() {
    return new ThreadPoolExecutor(
        0, // no thread while nothing is logged
        1,
        LOG_INTERVAL.toMillis(),
        TimeUnit.MILLISECONDS,
        new LinkedBlockingQueue<>(MAX_PENDING_LINES),
        Thread.ofPlatform().daemon().name("fleet-log").factory());
  }

  /** Registers the gauges, which read {@code limits} at every collection. */
  public void show(ConcurrencyLimits limits) {
    LimitGauges.showShares(meter, reader -> read(limits, reader));
  }

  private static void read(ConcurrencyLimits limits, BiConsumer<Rule, FleetFigures> reader) {
    limits.forEachShared(limit -> reader.accept(limit.rule(), limit.figures()));
  }

  @Override
  public void fenced(Rule rule) {
    if (isDue(fences, rule)) {
      log(() ->
          LOG.warn(
              "concurrency limits of {} in domain {} refuse all requests, as the store does not"
                  + " answer: {}",
              rule.path(),
              rule.domain(),
              lastFailure.isEmpty() ? "no answer yet" : lastFailure));
    }
  }

  @Override
  public void unfenced(Rule rule) {
    if (isDue(recoveries, rule)) {
      log(() ->
          LOG.info(
              "concurrency limits of {} in domain {} admit requests again",
              rule.path(),
              rule.domain()));
    }
  }

  @Override
  public void heartbeatFailed(Throwable why) {
    failures.increment();
    lastFailure = String.valueOf(why.getMessage());
  }

  @Override
  public void sameNode(String node) {
    if (sameNodeLogged.compareAndSet(false, true)) {
      log(() ->
          LOG.warn(
              "another process has the node id {}, too; they divide their shares correctly, but"
                  + " metrics and pages cannot tell them apart: give each its own"
                  + " concurrency.node_id",
              node));
    }
  }

  private boolean isDue(Map<String, LogInterval> lines, Rule rule) {
    long nanos = time.monotonicNanos();
    String name = rule.domain() + ": " + rule.path();
    if (lines.size() >= MAX_LOGGED_RULES && !lines.containsKey(name)) {
      name = "other rules"; // which then share one line per interval
    }
    return lines.computeIfAbsent(name, _ -> new LogInterval(LOG_INTERVAL, nanos)).isDue(nanos);
  }

  private void log(Runnable line) {
    try {
      logger.execute(line);
    } catch (RejectedExecutionException _) { // too many lines: the metrics have the rest
    }
  }
}
