package io.throttlekit.service.telemetry;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The counters as text, under envoyproxy/ratelimit's names for statsd. */
final class StatsLines {
  private static final String SERVICE = "ratelimit.service.";
  private static final String RATE_LIMIT = SERVICE + "rate_limit.";

  private final RateLimitMetrics metrics;
  private final List<String> lines = new ArrayList<>();

  StatsLines(RateLimitMetrics metrics) {
    this.metrics = metrics;
  }

  List<String> sorted() {
    metrics.forEachSeries(this::addTally);
    metrics.unknownDomains.forEach(
        (domain, count) -> add(RATE_LIMIT + domain + ".domain_not_found", count));
    Instruments.ERROR_TYPES.forEach((failure, type) ->
        add(SERVICE + "call.should_rate_limit." + type, metrics.failures.sum(failure)));
    add("ratelimit_server.ShouldRateLimit.total_requests", metrics.answered.sum());
    add(SERVICE + "config_load_success", metrics.goodLoads.sum());
    add(SERVICE + "config_load_error", metrics.badLoads.sum());
    add(SERVICE + "global_shadow_mode", metrics.globalShadow.sum());
    Collections.sort(lines);
    return lines;
  }

  private void addTally(SeriesName name, Tally tally) {
    String prefix = RATE_LIMIT + name.dotted() + ".";
    add(prefix + "total_hits", tally.totalHits());
    add(prefix + "within_limit", tally.withinLimit.sum());
    add(prefix + "near_limit", tally.nearLimit.sum());
    add(prefix + "over_limit", tally.overLimit.sum());
    add(prefix + "shadow_mode", tally.shadowMode.sum());
  }

  private void add(String name, long value) {
    if (value != 0) {
      lines.add(name + ": " + value);
    }
  }
}
