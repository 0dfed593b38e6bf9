package io.throttlekit.service.telemetry;

import io.throttlekit.service.telemetry.statsd.StatsdSource.Reader;

/** Passes the counters of decisions on under envoyproxy/ratelimit's names for statsd. */
final class EnvoyStatistics {
  private static final String SERVICE = "ratelimit.service.";
  private static final String RATE_LIMIT = SERVICE + "rate_limit.";

  private final RateLimitMetrics metrics;
  private final Reader reader;

  EnvoyStatistics(RateLimitMetrics metrics, Reader reader) {
    this.metrics = metrics;
    this.reader = reader;
  }

  void read() {
    metrics.forEachSeries(this::readTally);
    metrics.unknownDomains.forEach(
        (domain, count) -> reader.counter(RATE_LIMIT + domain + ".domain_not_found", count));
    Instruments.ERROR_TYPES.forEach((failure, type) ->
        reader.counter(SERVICE + "call.should_rate_limit." + type, metrics.failures.sum(failure)));
    reader.counter("ratelimit_server.ShouldRateLimit.total_requests", metrics.answered.sum());
    reader.counter(SERVICE + "config_load_success", metrics.goodLoads.sum());
    reader.counter(SERVICE + "config_load_error", metrics.badLoads.sum());
    reader.counter(SERVICE + "global_shadow_mode", metrics.globalShadow.sum());
  }

  private void readTally(SeriesName name, Tally tally) {
    long total = tally.totalHits();
    if (total == 0) { // the rule was not used
      return;
    }
    String prefix = RATE_LIMIT + name.dotted() + ".";
    reader.counter(prefix + "total_hits", total);
    reader.counter(prefix + "within_limit", tally.withinLimit.sum());
    reader.counter(prefix + "near_limit", tally.nearLimit.sum());
    reader.counter(prefix + "over_limit", tally.overLimit.sum());
    reader.counter(prefix + "over_limit_with_local_cache", tally.fromCache.sum());
    reader.counter(prefix + "shadow_mode", tally.shadowMode.sum());
  }
}
