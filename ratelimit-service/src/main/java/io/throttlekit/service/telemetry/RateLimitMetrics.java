package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.admission.DecisionListener;
import io.throttlekit.service.rls.CallListener;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Metrics of the decisions.
 *
 * <p>Decisions increment counters in memory, which instruments read at every collection. Rules
 * whose statistics are named by request values have at most {@code maxSeries} series, and unknown
 * domains at most {@value #MAX_UNKNOWN_DOMAINS}; further ones are counted as {@code other}.
 * Thread-safe.
 */
public final class RateLimitMetrics implements DecisionListener, CallListener {
  /** Maximum number of unknown domains with a series of their own: callers choose their names. */
  static final int MAX_UNKNOWN_DOMAINS = 32;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final Attributes SHOULD_RATE_LIMIT =
      Attributes.of(AttributeKey.stringKey("grpc_method"), "ShouldRateLimit");

  /** Prometheus' default buckets up to 10 s, with finer ones for answers from memory. */
  static final List<Double> RESPONSE_SECONDS =
      List.of(
          .000_05, .000_1, .000_25, .000_5, .001, .002_5, .005, .01, .025, .05, .1, .25, .5, 1.0,
          2.5, 5.0, 10.0);

  private final float nearLimitRatio;
  private final DoubleHistogram responseTime;
  // Read by the instruments.
  final RuleSeries series;
  final UnknownDomains unknownDomains;
  final LongAdder admitted = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder shadowed = new LongAdder();
  final LongAdder refundedHits = new LongAdder();
  final LongAdder answered = new LongAdder();
  final LongAdder globalShadow = new LongAdder();
  final LongAdder goodLoads = new LongAdder();
  final LongAdder badLoads = new LongAdder();
  final ByWord<Failure> failures = new ByWord<>(Failure.class);
  final ByWord<Abandonment> abandonments = new ByWord<>(Abandonment.class);
  volatile boolean lastLoadOk;

  /**
   * Registers all instruments.
   *
   * @param policies supplies the current book, or null while there is none
   * @param counters returns how many counters the store holds
   * @param forgotten returns how many counters the store dropped before their windows ended
   * @param nearLimitRatio fraction of a limit from which a hit is near it, from 0 to 1
   * @param maxSeries maximum number of series whose names come from requests
   */
  public RateLimitMetrics(
      Meter meter,
      Supplier<? extends @Nullable PolicyBook> policies,
      LongSupplier counters,
      LongSupplier forgotten,
      double nearLimitRatio,
      int maxSeries) {
    this.series = new RuleSeries(policies, maxSeries);
    this.unknownDomains = new UnknownDomains(Math.min(maxSeries, MAX_UNKNOWN_DOMAINS));
    this.nearLimitRatio = (float) nearLimitRatio;
    this.responseTime =
        meter
            .histogramBuilder("ratelimit_service_response_time_seconds")
            .setUnit("s")
            .setExplicitBucketBoundariesAdvice(RESPONSE_SECONDS)
            .build();
    new Instruments(meter, this).register(counters, forgotten);
  }

  @Override
  public void decided(Rule rule, String[] entries, long hits, Decision decision, boolean shadow) {
    if (hits < 0) {
      refundedHits.add(-hits);
      return;
    }
    if (decision.admitted()) {
      admitted.increment();
    } else if (shadow) {
      shadowed.increment();
    } else {
      refused.increment();
    }
    series.of(rule, entries).add(hits, decision, nearLimitRatio, shadow);
  }

  @Override
  public void domainNotFound(String domain) {
    unknownDomains.count(domain);
  }

  @Override
  public void answered(long nanos) {
    answered.increment();
    responseTime.record(nanos / NANOS_PER_SECOND, SHOULD_RATE_LIMIT);
  }

  @Override
  public void failed(Failure failure) {
    failures.increment(failure);
  }

  @Override
  public void abandoned(Abandonment how) {
    abandonments.increment(how);
  }

  @Override
  public void globalShadow() {
    globalShadow.increment();
  }

  /** Counts a load of the policies. */
  public void policiesLoaded(boolean ok) {
    (ok ? goodLoads : badLoads).increment();
    lastLoadOk = ok;
  }

  /**
   * Returns every counter that is not zero as {@code name: value}, under envoyproxy/ratelimit's
   * names.
   */
  public List<String> lines() {
    return new StatsLines(this).sorted();
  }

  long droppedSeries() {
    return series.dropped() + unknownDomains.gathered();
  }
}
