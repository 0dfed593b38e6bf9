package io.throttlekit.service.telemetry.policies;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.envoy.filter.FilterFigures;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** Metrics of the filters that Envoys receive over ECDS. */
public final class FilterMetrics {
  private FilterMetrics() {}

  /**
   * Registers the metrics.
   *
   * @param figures is read at every collection
   */
  public static void register(Meter meter, Supplier<FilterFigures> figures) {
    gauge(
        meter,
        figures,
        "throttlekit_filter_streams",
        "Open streams of Envoys for filters",
        FilterFigures::streams);
    gauge(
        meter,
        figures,
        "throttlekit_filter_rejecting_streams",
        "Streams whose Envoys rejected the newest filters, and keep the ones before",
        FilterFigures::rejecting);
    counter(
        meter,
        figures,
        "throttlekit_filter_sent",
        "Responses with filters sent to Envoys",
        FilterFigures::sent);
    counter(
        meter,
        figures,
        "throttlekit_filter_rejected",
        "Responses with filters that Envoys rejected",
        FilterFigures::rejected);
  }

  private static void gauge(
      Meter meter,
      Supplier<FilterFigures> figures,
      String name,
      String description,
      ToLongFunction<FilterFigures> value) {
    var _ =
        meter
            .gaugeBuilder(name)
            .ofLongs()
            .setDescription(description)
            .buildWithCallback(measured -> measured.record(value.applyAsLong(figures.get())));
  }

  private static void counter(
      Meter meter,
      Supplier<FilterFigures> figures,
      String name,
      String description,
      ToLongFunction<FilterFigures> value) {
    var _ =
        meter
            .counterBuilder(name)
            .setDescription(description)
            .buildWithCallback(measured -> measured.record(value.applyAsLong(figures.get())));
  }
}
