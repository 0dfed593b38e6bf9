package io.throttlekit.service;

import io.throttlekit.service.config.StatsdConfig;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.Scrape;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.service.telemetry.mapping.MappedMetrics;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import io.throttlekit.service.telemetry.statsd.StatsdSink;
import io.throttlekit.service.telemetry.statsd.StatsdSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of envoyproxy/ratelimit, under its names: for operators, for statsd, and for the
 * metrics of a mapping file. Thread-safe.
 */
final class PeerStatistics implements AutoCloseable {
  private final StatsdSource source;
  private final @Nullable StatsdSink sink;

  /**
   * Connects the statistics with those that show them.
   *
   * @param statsd server that receives them; null for none
   */
  PeerStatistics(
      RateLimitMetrics metrics,
      RedisPools pools,
      Telemetry telemetry,
      @Nullable StatsdConfig statsd) {
    this.source = StatsdSource.of(List.of(metrics, pools));
    Scrape scrape = telemetry.scrape();
    MappedMetrics mapped = scrape == null ? null : scrape.mapped();
    if (mapped != null) {
      mapped.show(source);
      metrics.addResponseTimeListener(mapped::answered);
    }
    this.sink = statsd == null ? null : new StatsdSink(statsd, source);
    if (sink != null) {
      metrics.addResponseTimeListener(sink.responseTimes());
    }
  }

  /** Begins to send them to statsd, if there is a server. */
  void start() {
    if (sink != null) {
      sink.start();
    }
  }

  /** Returns every statistic that is not zero as {@code name: value}, sorted. */
  List<String> lines() {
    return StatsLines.of(source);
  }

  @Override
  public void close() {
    if (sink != null) {
      sink.close();
    }
  }
}
