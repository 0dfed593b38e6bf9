package io.throttlekit.service.telemetry;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot.UnknownDataPointSnapshot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The counters that envoyproxy/ratelimit has as well, under exactly its names.
 *
 * <p>Requests for unknown domains have a label here, and a metric per domain there. Both are
 * written.
 */
final class EnvoyRatelimitCounters {
  private static final String PREFIX = "ratelimit_service_";
  private static final String RATE_LIMIT = PREFIX + "rate_limit_";
  private static final String NOT_FOUND = "domain_not_found";

  private final Map<String, Map<Labels, Double>> samples = new TreeMap<>();

  static boolean isOne(CounterSnapshot counter) {
    return counter.getMetadata().getPrometheusName().startsWith(PREFIX);
  }

  void add(CounterSnapshot counter) {
    String name = counter.getMetadata().getPrometheusName();
    for (CounterDataPointSnapshot point : counter.getDataPoints()) {
      add(name, point.getLabels(), point.getValue());
      if (name.equals(RATE_LIMIT + NOT_FOUND)) {
        String domain = point.getLabels().getValue(0).replaceAll("[^a-zA-Z0-9_]", "_");
        add(RATE_LIMIT + domain + "_" + NOT_FOUND, Labels.EMPTY, point.getValue());
      }
    }
  }

  /** Returns the samples as metrics of unknown type for OpenMetrics. */
  List<UnknownSnapshot> untyped() {
    List<UnknownSnapshot> metrics = new ArrayList<>();
    samples.forEach((name, values) -> {
      UnknownSnapshot.Builder metric = UnknownSnapshot.builder().name(name);
      values.forEach((labels, value) ->
          metric.dataPoint(UnknownDataPointSnapshot.builder().labels(labels).value(value).build()));
      metrics.add(metric.build());
    });
    return metrics;
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

  private void add(String name, Labels labels, double value) {
    samples
        .computeIfAbsent(name, any -> new TreeMap<>(Comparator.naturalOrder()))
        .merge(labels, value, Double::sum);
  }

  private static String sample(String name, Labels labels, double value) {
    String text =
        labels.stream()
            .map(label -> label.getName() + "=\"" + escaped(label.getValue()) + '"')
            .collect(Collectors.joining(",", "{", "}"));
    return name + (labels.isEmpty() ? "" : text) + ' ' + (long) value + '\n';
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\"", "\\\"");
  }
}
