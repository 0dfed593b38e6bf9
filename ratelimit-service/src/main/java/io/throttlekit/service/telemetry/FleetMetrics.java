package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.ConcurrencyLimits;
import io.throttlekit.service.concurrency.FleetListener;
import io.throttlekit.share.FleetFigures;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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

  private final Meter meter;
  private final LongAdder failures = new LongAdder();
  private final AtomicBoolean sameNodeLogged = new AtomicBoolean();

  // all limits of a rule are fenced and unfenced together: one line for each rule is enough
  private final RuleLog fences;
  private final RuleLog recoveries;
  private volatile String lastFailure = "";

  /**
   * Registers the counters.
   *
   * @param time limits the rate of log lines
   */
  public FleetMetrics(Meter meter, TimeSource time) {
    this(meter, time, RuleLog.thread("fleet-log"));
  }

  /**
   * @param logger writes log lines on another thread, or throws {@link RejectedExecutionException}
   */
  FleetMetrics(Meter meter, TimeSource time, Executor logger) {
    this.meter = meter;
    this.fences = new RuleLog(logger, time);
    this.recoveries = new RuleLog(logger, time);
    var _ =
        new OurCounters(meter)
            .counter(
                PREFIX + "heartbeat_failures",
                "Heartbeats for shares of concurrency limits that the store did not answer",
                failures::sum);
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
    var _ =
        fences.write(
            rule,
            () ->
                LOG.warn(
                    "concurrency limits of {} in domain {} refuse all requests, as the store does"
                        + " not answer: {}",
                    rule.path(),
                    rule.domain(),
                    lastFailure.isEmpty() ? "no answer yet" : lastFailure));
  }

  @Override
  public void unfenced(Rule rule) {
    var _ =
        recoveries.write(
            rule,
            () ->
                LOG.info(
                    "concurrency limits of {} in domain {} admit requests again",
                    rule.path(),
                    rule.domain()));
  }

  @Override
  public void heartbeatFailed(Throwable why) {
    failures.increment();
    lastFailure = String.valueOf(why.getMessage());
  }

  @Override
  public void sameNode(String node) {
    if (sameNodeLogged.compareAndSet(false, true)) {
      var _ =
          fences.write(() ->
              LOG.warn(
                  "another process has the node id {}, too; they divide their shares correctly, but"
                      + " metrics and pages cannot distinguish them: give each its own"
                      + " concurrency.node_id",
                  node));
    }
  }
}
