package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.authz.CheckListener;
import io.throttlekit.service.telemetry.OurCounters.ByWord;

/** Metrics of external authorization calls. Create once. Thread-safe. */
public final class CheckMetrics implements CheckListener {
  private static final String PREFIX = "throttlekit_ext_authz_";
  private static final double NANOS_PER_SECOND = 1e9;

  private final DoubleHistogram time;
  private final ByWord<Metric> counts;
  private final ByWord<Failure> failures;
  private final ByWord<Abandonment> abandoned;

  /** Registers the instruments. */
  public CheckMetrics(Meter meter) {
    this.time =
        meter
            .histogramBuilder(PREFIX + "check_time_seconds")
            .setDescription("Time to answer a Check")
            .setUnit("s")
            .setExplicitBucketBoundariesAdvice(RateLimitMetrics.RESPONSE_SECONDS)
            .build();
    OurCounters ours = new OurCounters(meter);
    this.counts =
        ours.counters(
            Metric.EXT_AUTHZ_REQUESTS_WITHOUT_DESCRIPTORS,
            Metric.EXT_AUTHZ_REQUESTS_WITHOUT_DESCRIPTORS);
    this.failures =
        ours.counters(PREFIX + "failures", "Checks without a decision", "reason", Failure.class);
    this.abandoned =
        ours.counters(
            PREFIX + "abandoned", "Checks that Envoy timed out on", "kind", Abandonment.class);
  }

  @Override
  public void answered(long nanos) {
    time.record(nanos / NANOS_PER_SECOND);
  }

  @Override
  public void failed(Failure failure) {
    failures.increment(failure);
  }

  @Override
  public void abandoned(Abandonment how) {
    abandoned.increment(how);
  }

  @Override
  public void undescribed() {
    counts.increment(Metric.EXT_AUTHZ_REQUESTS_WITHOUT_DESCRIPTORS);
  }
}
