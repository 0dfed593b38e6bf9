package io.throttlekit.service.telemetry.mapping;

import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.core.metrics.Summary;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.function.DoubleConsumer;
import java.util.function.Supplier;

/**
 * A timer as a histogram or a summary. Thread-safe.
 *
 * @param name of the metric
 * @param recording receives values, in ms before the scale of the mapping
 * @param snapshot returns the metric
 */
record MappedTimer(String name, DoubleConsumer recording, Supplier<MetricSnapshot> snapshot) {

  /**
   * Creates the metric that a mapped timer becomes.
   *
   * @throws IllegalArgumentException if the mapping's name or labels are not possible for it
   */
  static MappedTimer of(StatsdMapping.Result result) {
    Mapping mapping = result.mapping();
    TimerShape shape = mapping == null ? TimerShape.SUMMARY : mapping.timer();
    double scale = mapping == null ? 1 : mapping.scale();
    String[] names = result.labels().stream().map(Label::getName).toArray(String[]::new);
    String[] values = result.labels().stream().map(Label::getValue).toArray(String[]::new);
    return switch (shape) {
      case TimerShape.OfBuckets histogram -> {
        Histogram metric =
            Histogram.builder()
                .name(result.name())
                .labelNames(names)
                .classicOnly()
                .classicUpperBounds(
                    histogram.buckets().stream().mapToDouble(bound -> bound).toArray())
                .withoutExemplars()
                .build();
        var series = metric.labelValues(values);
        yield new MappedTimer(
            result.name(), millis -> series.observe(millis * scale), metric::collect);
      }
      case TimerShape.OfQuantiles summary -> {
        Summary.Builder builder =
            Summary.builder().name(result.name()).labelNames(names).withoutExemplars();
        summary
            .quantiles()
            .forEach(quantile -> builder.quantile(quantile.quantile(), quantile.error()));
        Summary metric = builder.build();
        var series = metric.labelValues(values);
        yield new MappedTimer(
            result.name(), millis -> series.observe(millis * scale), metric::collect);
      }
    };
  }
}
