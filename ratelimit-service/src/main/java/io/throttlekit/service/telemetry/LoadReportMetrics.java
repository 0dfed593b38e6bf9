package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.concurrency.sensors.LoadReportListener;

/** Metrics of load reports. Create once. Thread-safe. */
public final class LoadReportMetrics extends StreamMetrics implements LoadReportListener {

  /** Registers the instruments. */
  public LoadReportMetrics(Meter meter) {
    this(new OurCounters(meter));
  }

  private LoadReportMetrics(OurCounters ours) {
    super(
        ours,
        "throttlekit_load_report_streams",
        "Streams of load reports",
        ours.counters(Metric.LOAD_REPORT_MESSAGES, Metric.LOAD_REPORT_REFUSED_STREAMS),
        Metric.LOAD_REPORT_REFUSED_STREAMS);
  }

  @Override
  public void reported() {
    counts.increment(Metric.LOAD_REPORT_MESSAGES);
  }

  @Override
  public void impossible() {
    counts.increment(Metric.INVALID_LOAD_REPORTS);
  }
}
