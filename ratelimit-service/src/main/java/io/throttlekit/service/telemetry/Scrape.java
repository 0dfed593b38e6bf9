package io.throttlekit.service.telemetry;

import io.prometheus.metrics.config.EscapingScheme;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.throttlekit.service.http.MetricsSource;
import io.throttlekit.service.log.PrintableText;
import io.throttlekit.service.telemetry.mapping.MappedMetrics;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The metrics in the formats that Prometheus reads.
 *
 * <p>The library appends {@code _total} to the name of every counter, but the dashboards of
 * envoyproxy/ratelimit query its counters without it. Those are written separately under their own
 * names: as counters in the Prometheus text format, and with unknown type in OpenMetrics, where the
 * name of a counter must end in {@code _total}. Thread-safe.
 */
public final class Scrape implements MetricsSource {

  private final MultiCollector metrics;

  /** Replaces the metrics of envoyproxy/ratelimit; null where they keep their names. */
  private final @Nullable MappedMetrics mapped;

  private final PrometheusTextFormatWriter text = PrometheusTextFormatWriter.create();
  private final OpenMetricsTextFormatWriter openMetrics = OpenMetricsTextFormatWriter.create();

  Scrape(MultiCollector metrics, @Nullable MappedMetrics mapped) {
    this.metrics = metrics;
    this.mapped = mapped;
  }

  /** Returns the metrics with the names of a mapping file; null without one. */
  public @Nullable MappedMetrics mapped() {
    return mapped;
  }

  @Override
  public boolean asOpenMetrics(@Nullable String accept) {
    return openMetrics.accepts(accept);
  }

  @Override
  public Page page(@Nullable String accept) throws IOException {
    MetricSnapshots.Builder ours = MetricSnapshots.builder();
    EnvoyRatelimitCounters originals = new EnvoyRatelimitCounters();
    Set<String> names = new HashSet<>();
    for (MetricSnapshot metric : metrics.collect()) {
      boolean theirs = EnvoyRatelimitCounters.isOne(metric);
      if (theirs && mapped != null) {
        continue;
      }
      if (theirs && metric instanceof CounterSnapshot counter) {
        originals.add(counter);
      } else {
        ours.metricSnapshot(metric);
        names.add(metric.getMetadata().getPrometheusName());
      }
    }
    if (mapped != null) {
      mapped.collect(names, originals::add).forEach(ours::metricSnapshot);
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    if (asOpenMetrics(accept)) {
      originals.forOpenMetrics().forEach(ours::metricSnapshot);
      openMetrics.write(body, ours.build(), EscapingScheme.UNDERSCORE_ESCAPING);
      return page(openMetrics.getContentType(), body, "");
    }
    text.write(body, ours.build(), EscapingScheme.UNDERSCORE_ESCAPING);
    return page(text.getContentType(), body, originals.text());
  }

  /** Returns a page without control characters, which both formats permit in labels. */
  private static Page page(String contentType, ByteArrayOutputStream body, String more) {
    String text = body.toString(StandardCharsets.UTF_8) + more;
    return new Page(contentType, PrintableText.ofLines(text));
  }
}
