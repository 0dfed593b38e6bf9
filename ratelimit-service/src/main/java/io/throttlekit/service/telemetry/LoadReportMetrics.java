package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.concurrency.envoy.LoadReportListener;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of load reports. Create once. Thread-safe. */
public final class LoadReportMetrics implements LoadReportListener {
  private static final String PREFIX = "throttlekit_load_report_";

  private final LongAdder streams = new LongAdder();
  private final ByWord<Metric> counts;

  /** Registers the instruments. */
  public LoadReportMetrics(Meter meter) {
    OurCounters ours = new OurCounters(meter);
    counts = ours.counters(Metric.LOAD_REPORT_MESSAGES, Metric.LOAD_REPORT_REFUSED_STREAMS);
    ours.gauge(PREFIX + "streams", "Streams of load reports", streams::sum);
  }

  @Override
  public void opened() {
    streams.increment();
  }

  @Override
  public void closed() {
    streams.decrement();
  }

  @Override
  public void rejected() {
    counts.increment(Metric.LOAD_REPORT_REFUSED_STREAMS);
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
