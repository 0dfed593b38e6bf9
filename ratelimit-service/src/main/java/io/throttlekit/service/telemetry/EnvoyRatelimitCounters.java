package io.throttlekit.service.telemetry;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot.UnknownDataPointSnapshot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The counters that envoyproxy/ratelimit has as well, under exactly its names.
 *
 * <p>Requests for unknown domains, and units that cached refusals decided, have labels here, and a
 * metric of their own per domain and rule there. Both are written.
 */
final class EnvoyRatelimitCounters {
  private static final String PREFIX = "ratelimit_service_";
  private static final String RATE_LIMIT = PREFIX + "rate_limit_";
  private static final String NOT_FOUND = "domain_not_found";
  private static final String FROM_CACHE = "over_limit_with_local_cache";
  private static final String TOTAL = "_total";
  private static final Pattern POOL = Pattern.compile("ratelimit_redis_(per_second_)?pool_");

  private final Map<String, Map<Labels, Double>> samples = new TreeMap<>();

  /** Returns whether envoyproxy/ratelimit has this metric, or the statistic that it shows. */
  static boolean isOne(MetricSnapshot metric) {
    String name = metric.getMetadata().getPrometheusName();
    return name.startsWith(PREFIX) || POOL.matcher(name).lookingAt();
  }

  void add(CounterSnapshot counter) {
    String kept = counter.getMetadata().getPrometheusName();
    boolean isCut = POOL.matcher(kept).lookingAt() && kept.endsWith("_cx"); // by the library
    String name = isCut ? kept + TOTAL : kept;
    for (CounterDataPointSnapshot point : counter.getDataPoints()) {
      add(name, point.getLabels(), point.getValue());
      if (name.equals(RATE_LIMIT + NOT_FOUND) || name.equals(RATE_LIMIT + FROM_CACHE)) {
        String rule =
            point.getLabels().stream().map(Label::getValue).collect(Collectors.joining("_"));
        String own = rule.replaceAll("[^a-zA-Z0-9_]", "_");
        add(
            RATE_LIMIT + own + name.substring(RATE_LIMIT.length() - 1),
            Labels.EMPTY,
            point.getValue());
      }
    }
  }

  /** Returns the samples for OpenMetrics: as counters if their names end as it requires. */
  List<MetricSnapshot> forOpenMetrics() {
    List<MetricSnapshot> metrics = new ArrayList<>();
    samples.forEach((name, values) ->
        metrics.add(name.endsWith(TOTAL) ? counter(name, values) : untyped(name, values)));
    return metrics;
  }

  private static MetricSnapshot counter(String name, Map<Labels, Double> values) {
    String shortName = name.substring(0, name.length() - TOTAL.length());
    CounterSnapshot.Builder metric = CounterSnapshot.builder().name(shortName);
    values.forEach((labels, value) ->
        metric.dataPoint(CounterDataPointSnapshot.builder().labels(labels).value(value).build()));
    return metric.build();
  }

  private static MetricSnapshot untyped(String name, Map<Labels, Double> values) {
    UnknownSnapshot.Builder metric = UnknownSnapshot.builder().name(name);
    values.forEach((labels, value) ->
        metric.dataPoint(UnknownDataPointSnapshot.builder().labels(labels).value(value).build()));
    return metric.build();
  }

  /** Returns the samples in the Prometheus text format. */
  String text() {
    StringBuilder text = new StringBuilder();
    samples.forEach((name, values) -> {
      text.append("# TYPE ").append(name).append(" counter\n");
      values.forEach((labels, value) -> text.append(sample(name, labels, value)));
    });
    return text.toString();
  }

  /** Adds to the sample with this name and these labels. */
  void add(String name, Labels labels, double value) {
    samples
        .computeIfAbsent(name, any -> new TreeMap<>(Comparator.naturalOrder()))
        .merge(labels, value, Double::sum);
  }

  private static String sample(String name, Labels labels, double value) {
    String text =
        labels.stream()
            .map(label -> label.getName() + "=\"" + escaped(label.getValue()) + '"')
            .collect(Collectors.joining(",", "{", "}"));
    return name + (labels.isEmpty() ? "" : text) + ' ' + number(value) + '\n';
  }

  private static String number(double value) {
    return value == (long) value ? Long.toString((long) value) : Double.toString(value);
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\"", "\\\"");
  }
}
