package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Tracer;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.ConcurrencyLimits;
import io.throttlekit.service.concurrency.FleetListener;
import io.throttlekit.service.concurrency.envoy.SteeringListener;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.share.FleetFigures;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metrics, log lines and trace events of the concurrency limits that replicas share, of requests
 * and of Envoys. Each change of this replica's part is a span of its own with one event, because it
 * belongs to no request; their rate is that of the log lines.
 *
 * <p>No label comes from a request. Create once. Thread-safe.
 */
public final class FleetMetrics implements FleetListener, SteeringListener {
  private static final Logger LOG = LoggerFactory.getLogger(FleetMetrics.class);
  private static final String PREFIX = "throttlekit_concurrency_";
  private static final AttributeKey<Long> EPOCH = AttributeKey.longKey("ratelimit.steering_epoch");
  private static final AttributeKey<String> DOMAIN = AttributeKey.stringKey("ratelimit.domain");
  private static final AttributeKey<String> RULE = AttributeKey.stringKey("ratelimit.rule");

  private final Meter meter;
  private final Tracer tracer;
  private final TimeSource time;
  private final LongAdder failures = new LongAdder();
  private final LongAdder failedVisits = new LongAdder();
  private final LongAdder rejectedReports = new LongAdder();
  private final LongAdder droppedReports = new LongAdder();
  private final LongAdder droppedOutcomes = new LongAdder();
  private final AtomicBoolean sameNodeLogged = new AtomicBoolean();

  /**
   * How long a line counts for other limits of its rule, which are fenced and unfenced with the
   * first one: shorter than a limit that was unfenced is fenced again.
   */
  private static final long TOGETHER_NANOS = TimeUnit.MILLISECONDS.toNanos(1_400);

  // one line for each rule is enough
  private final RuleLog fences;
  private final RuleLog recoveries;
  private final LogInterval rejections;
  private volatile String lastFailedVisit = "";

  /**
   * Registers the counters.
   *
   * @param tracer of the events; may be a no-op
   * @param time limits the rate of log lines
   */
  public FleetMetrics(Meter meter, Tracer tracer, TimeSource time) {
    this(meter, tracer, time, RuleLog.thread("fleet-log"));
  }

  /**
   * @param logger writes log lines on another thread, or throws {@link RejectedExecutionException}
   */
  FleetMetrics(Meter meter, Tracer tracer, TimeSource time, Executor logger) {
    this.meter = meter;
    this.tracer = tracer;
    this.time = time;
    this.rejections = new LogInterval(RuleLog.INTERVAL, time.monotonicNanos());
    this.fences = new RuleLog(logger, time);
    this.recoveries = new RuleLog(logger, time);
    OurCounters ours = new OurCounters(meter);
    ours.counter(
        PREFIX + "heartbeat_failures",
        "Heartbeats for shares of concurrency limits that the store did not answer",
        failures::sum);
    ours.counter(
        PREFIX + "failed_visits",
        "Visits to the store for the limits of Envoys that failed",
        failedVisits::sum);
    ours.counter(
        PREFIX + "rejected_reports",
        "Reports of replicas, and records of shares, that were invalid or read before",
        rejectedReports::sum);
    ours.counter(
        PREFIX + "dropped_reports",
        "Reports of replicas that the steering one collected too late",
        droppedReports::sum);
    ours.counter(
        PREFIX + "dropped_outcomes",
        "Outcomes and loads of Envoys that were too many to report, or too old",
        droppedOutcomes::sum);
  }

  /** Registers the gauges, which read {@code limits} at every collection. */
  public void show(ConcurrencyLimits limits) {
    LimitGauges.showShares(meter, reader -> read(limits, reader));
  }

  private static void read(ConcurrencyLimits limits, BiConsumer<Rule, FleetFigures> reader) {
    limits.forEachShared(limit -> reader.accept(limit.rule(), limit.figures()));
  }

  @Override
  public boolean fenced(Rule rule, String reason, long sinceNanos) {
    return fences.writeOnce(
        rule,
        sinceNanos - TOGETHER_NANOS,
        () -> {
          LOG.warn(
              "concurrency limits of {} in domain {} refuse all requests, as the store does"
                  + " not answer: {}",
              rule.path(),
              rule.domain(),
              reason.isEmpty() ? "no answer yet" : reason);
          trace("fenced", attributes(rule));
        });
  }

  @Override
  public boolean unfenced(Rule rule, long sinceNanos) {
    return recoveries.writeOnce(
        rule,
        sinceNanos - TOGETHER_NANOS,
        () -> {
          LOG.info(
              "concurrency limits of {} in domain {} admit requests again",
              rule.path(),
              rule.domain());
          trace("unfenced", attributes(rule));
        });
  }

  @Override
  public void heartbeatFailed(Throwable why) {
    failures.increment();
  }

  @Override
  public void began(long epoch) {
    var _ =
        recoveries.write(() -> {
          LOG.info("this replica steers the limits of Envoys now, in epoch {}", epoch);
          trace("steering began", Attributes.of(EPOCH, epoch));
        });
  }

  @Override
  public void ended() {
    var _ =
        recoveries.write(() -> {
          LOG.info("this replica does not steer the limits of Envoys any more");
          trace("steering ended", Attributes.empty());
        });
  }

  @Override
  public void visitFailed(String reason) {
    failedVisits.increment();
    lastFailedVisit = reason;
  }

  @Override
  public void cutOff() {
    var _ =
        fences.write(() -> {
          LOG.warn(
              "Envoys have to connect to another replica, as the store does not answer: {}",
              lastFailedVisit.isEmpty() ? "no answer" : lastFailedVisit);
          trace("cut off", Attributes.empty());
        });
  }

  @Override
  public void reachable() {
    lastFailedVisit = "";
    var _ =
        recoveries.write(() -> {
          LOG.info("Envoys are accepted again, as the store has answered");
          trace("reachable", Attributes.empty());
        });
  }

  @Override
  public void rejected(String reason) {
    rejectedReports.increment();
    if (rejections.isDue(time.monotonicNanos())) {
      var _ = fences.write(() -> LOG.warn("a report was not used: {}", reason));
    }
  }

  @Override
  public void reportsDropped(long reports) {
    droppedReports.add(reports);
  }

  @Override
  public void outcomesDropped(long outcomes) {
    droppedOutcomes.add(outcomes);
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

  private void trace(String event, Attributes attributes) {
    tracer
        .spanBuilder("ratelimit.replica")
        .setNoParent()
        .startSpan()
        .addEvent(event, attributes)
        .end();
  }

  private static Attributes attributes(Rule rule) {
    return Attributes.of(DOMAIN, rule.domain(), RULE, rule.path());
  }
}
