package io.throttlekit.service.telemetry.mapping;

import java.util.List;

/** The metric that a timer becomes. */
sealed interface TimerShape {

  /** The quantiles of the statsd exporter. */
  OfQuantiles SUMMARY =
      new OfQuantiles(
          List.of(
              new OfQuantiles.Quantile(0.5, 0.05),
              new OfQuantiles.Quantile(0.9, 0.01),
              new OfQuantiles.Quantile(0.99, 0.001)));

  /** The buckets of Prometheus' client libraries. */
  OfBuckets HISTOGRAM = new OfBuckets(List.of(.005, .01, .025, .05, .1, .25, .5, 1., 2.5, 5., 10.));

  /**
   * A histogram.
   *
   * @param buckets upper bounds, ascending
   */
  record OfBuckets(List<Double> buckets) implements TimerShape {}

  /** A summary. */
  record OfQuantiles(List<Quantile> quantiles) implements TimerShape {

    /** One quantile and its maximum error, both from 0 to 1. */
    record Quantile(double quantile, double error) {}
  }
}
