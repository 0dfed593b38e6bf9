package io.throttlekit.service.telemetry.mapping;

import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.throttlekit.service.telemetry.statsd.StatsdSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The statistics of envoyproxy/ratelimit as metrics, with the names and labels of a mapping file.
 *
 * <p>Values are computed from the statistics at each collection, so a changed mapping needs a new
 * start, as there. Thread-safe.
 */
public final class MappedMetrics {
  private static final Logger LOG = LoggerFactory.getLogger(MappedMetrics.class);
  private static final double NANOS_PER_MILLI = 1e6;

  /** Longest file, in bytes; a ConfigMap has at most 1 MiB. */
  static final int MAX_BYTES = 1 << 20;

  private final StatsdMapping mapping;
  private final @Nullable MappedTimer responseTime;
  private volatile StatsdSource source = _ -> {};

  /** Receives counters. */
  @FunctionalInterface
  public interface CounterReader {
    /** Receives the value of one series. */
    void read(String name, Labels labels, double value);
  }

  private MappedMetrics(StatsdMapping mapping) {
    this.mapping = mapping;
    this.responseTime = responseTime(mapping);
  }

  /**
   * Reads a mapping file, and logs its mistakes.
   *
   * @return null if the file cannot be used, which is logged
   */
  public static @Nullable MappedMetrics read(Path file) {
    try {
      MappingFile.Read read = MappingFile.read(text(file));
      read.warnings().forEach(warning -> LOG.warn("metric mappings of {}: {}", file, warning));
      return new MappedMetrics(read.mapping());
    } catch (IOException | MappingSyntaxException e) {
      String why = e instanceof MappingSyntaxException ? e.getMessage() : e.toString();
      LOG.warn("metric mappings of {} are not used, metrics keep their names: {}", file, why);
      return null;
    }
  }

  private static String text(Path file) throws IOException, MappingSyntaxException {
    if (!Files.isRegularFile(file)) { // a pipe would block the start
      throw new MappingSyntaxException(
          Files.exists(file) ? "it is no regular file" : "there is no such file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new MappingSyntaxException("it is longer than " + MAX_BYTES + " bytes");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  /** Sets the statistics to map. */
  public void show(StatsdSource statistics) {
    source = statistics;
  }

  /** Records how long an answer took. */
  public void answered(long nanos) {
    if (responseTime != null) {
      responseTime.recording().accept(nanos / NANOS_PER_MILLI);
    }
  }

  /**
   * Collects the metrics. Of several with one name, and of those whose name is taken, one kind is
   * kept.
   *
   * @param taken names of other metrics
   * @param counters receives counters, whose series may come in several parts to be added up
   * @return gauges and timers
   */
  public List<MetricSnapshot> collect(Set<String> taken, CounterReader counters) {
    Map<String, StatisticKind> kinds = new HashMap<>();
    taken.forEach(name -> kinds.put(family(name), StatisticKind.OBSERVER));
    List<MetricSnapshot> metrics = new ArrayList<>();
    if (responseTime != null
        && kinds.putIfAbsent(family(responseTime.name()), StatisticKind.OBSERVER) == null) {
      metrics.add(responseTime.snapshot().get());
    }
    Map<String, Map<Labels, Double>> gauges = new TreeMap<>();
    source.read(
        new StatsdSource.Reader() {
          @Override
          public void counter(String name, long total) {
            if (total > 0) { // that program does not send counters before they count
              read(StatisticKind.COUNTER, name, total);
            }
          }

          @Override
          public void gauge(String name, long value) {
            read(StatisticKind.GAUGE, name, value);
          }

          private void read(StatisticKind kind, String name, long value) {
            StatsdMapping.Result result = mapping.map(kind, name);
            String family = family(result.name());
            StatisticKind known = kinds.get(family);
            if (result.dropped() || (known != null && known != kind)) {
              return;
            }
            kinds.put(family, kind);
            double scaled = value * result.scale();
            if (kind == StatisticKind.COUNTER) {
              counters.read(result.name(), result.labels(), scaled);
            } else { // the last one counts
              gauges
                  .computeIfAbsent(result.name(), _ -> new TreeMap<>())
                  .put(result.labels(), scaled);
            }
          }
        });
    gauges.forEach((name, series) -> metrics.add(gauge(name, series)));
    return metrics;
  }

  /** Returns what OpenMetrics takes for the name: two metrics of one would break the scrape. */
  private static String family(String name) {
    return name.endsWith("_total") ? name.substring(0, name.length() - "_total".length()) : name;
  }

  private static MetricSnapshot gauge(String name, Map<Labels, Double> series) {
    GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(name);
    series.forEach((labels, value) ->
        gauge.dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build()));
    return gauge.build();
  }

  private static @Nullable MappedTimer responseTime(StatsdMapping mapping) {
    StatsdMapping.Result result = mapping.map(StatisticKind.OBSERVER, StatsdSource.RESPONSE_TIME);
    if (result.dropped()) {
      return null;
    }
    try {
      return MappedTimer.of(result);
    } catch (IllegalArgumentException e) { // such as a label named le
      LOG.warn("{} has no metric: {}", StatsdSource.RESPONSE_TIME, e.getMessage());
      return null;
    }
  }
}
