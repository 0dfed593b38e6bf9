package io.throttlekit.service.telemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.rls.CallListener.Failure;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/** The instruments that read {@link RateLimitMetrics} at every collection. */
final class Instruments {
  private static final String SERVICE = "ratelimit_service_";
  private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("outcome");
  private static final AttributeKey<String> ERR_TYPE = AttributeKey.stringKey("err_type");
  private static final Attributes SHOULD_RATE_LIMIT =
      Attributes.of(AttributeKey.stringKey("grpc_method"), "ShouldRateLimit");

  /** The failures that envoyproxy/ratelimit counts, with its names for them. */
  static final Map<Failure, String> ERROR_TYPES =
      Map.of(Failure.SERVICE, "service_error", Failure.STORE, "redis_error");

  private final Meter meter;
  private final OurCounters ours;
  private final RateLimitMetrics metrics;

  Instruments(Meter meter, RateLimitMetrics metrics) {
    this.meter = meter;
    this.ours = new OurCounters(meter);
    this.metrics = metrics;
  }

  void register(LongSupplier counters, LongSupplier evicted) {
    ofEachSeries("total_hits", Tally::totalHits);
    ofEachSeries("within_limit", tally -> tally.withinLimit.sum());
    ofEachSeries("near_limit", tally -> tally.nearLimit.sum());
    ofEachSeries("over_limit", tally -> tally.overLimit.sum());
    ours.labelled(
        SERVICE + "rate_limit_over_limit_with_local_cache",
        "",
        OurCounters.sums(sum ->
            metrics.forEachSeries((series, tally) -> {
              long hits = tally.fromCache.sum();
              if (hits > 0) { // of rules whose refusals are cached
                sum.accept(series.labels(), hits);
              }
            })));
    ofEachSeries("shadow_mode", tally -> tally.shadowMode.sum());
    ofTheService();
    ofOurs(counters, evicted);
    JvmInstruments.register(meter);
  }

  private void ofEachSeries(String name, ToLongFunction<Tally> counter) {
    ours.labelled(
        SERVICE + "rate_limit_" + name,
        "",
        OurCounters.sums(sum ->
            metrics.forEachSeries((series, tally) -> {
              if (tally.totalHits() > 0) {
                sum.accept(series.labels(), counter.applyAsLong(tally));
              }
            })));
  }

  private void ofTheService() {
    ours.labelled(
        SERVICE + "rate_limit_domain_not_found",
        "",
        measured ->
            metrics.unknownDomains.forEach((domain, count) ->
                measured.record(count, Attributes.of(SeriesName.DOMAIN, domain))));
    ours.labelled(
        SERVICE + "should_rate_limit_error",
        "",
        measured ->
            ERROR_TYPES.forEach((failure, type) ->
                measured.record(metrics.failures.sum(failure), Attributes.of(ERR_TYPE, type))));
    ours.labelled(
        SERVICE + "total_requests",
        "",
        measured -> measured.record(metrics.answered.sum(), SHOULD_RATE_LIMIT));
    ours.counter(SERVICE + "config_load_success", "", metrics.goodLoads::sum);
    ours.counter(SERVICE + "config_load_error", "", metrics.badLoads::sum);
    ours.counter(SERVICE + "global_shadow_mode", "", metrics.globalShadow::sum);
  }

  private void ofOurs(LongSupplier counters, LongSupplier evicted) {
    ours.labelled(
        "throttlekit_decisions",
        "Descriptors decided, by outcome",
        measured -> {
          measured.record(metrics.admitted.sum(), Attributes.of(OUTCOME, "admitted"));
          measured.record(metrics.refused.sum(), Attributes.of(OUTCOME, "refused"));
          measured.record(metrics.shadowed.sum(), Attributes.of(OUTCOME, "shadowed"));
        });
    ours.counter(
        "throttlekit_cancelled_requests",
        "ShouldRateLimit calls whose callers cancelled or timed out before the answer",
        () -> metrics.failures.sum(Failure.CANCELLED));
    ours.register(
        "throttlekit_abandoned_requests",
        "ShouldRateLimit calls that Envoy timed out on, by how that was detected",
        "kind",
        metrics.abandonments);
    ours.counter(
        "throttlekit_shed_requests",
        "ShouldRateLimit calls refused undecided because they were read too late to be answered",
        () -> metrics.failures.sum(Failure.SHED));
    ours.counter(
        "throttlekit_refunded_hits", "Hits refunded by callers", metrics.refundedHits::sum);
    ours.counter(
        "throttlekit_evicted_counters",
        "Counters evicted before their windows ended, because there were too many",
        evicted);
    ours.counter(
        "throttlekit_dropped_series",
        "Decisions and unknown domains counted as other because there were too many names",
        metrics::droppedSeries);
    ours.gauge("throttlekit_counters", "Counters held in memory", counters);
    ours.gauge(
        "throttlekit_policy_loaded",
        "1 once there are policies, else 0: every call fails",
        () -> metrics.hasPolicies() ? 1 : 0);
    ours.gauge(
        "throttlekit_policy_generation", "Good loads of the policies", metrics.goodLoads::sum);
    ours.gauge(
        "throttlekit_policy_last_load_ok",
        "1 when the last load of the policies was good, else 0",
        () -> metrics.lastLoadOk ? 1 : 0);
  }
}
