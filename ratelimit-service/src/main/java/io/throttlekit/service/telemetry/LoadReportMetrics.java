package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.load.LoadReportListener;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of load reports. Create once. Thread-safe. */
public final class LoadReportMetrics implements LoadReportListener {
  private static final String PREFIX = "throttlekit_load_report_";

  private final LongAdder streams = new LongAdder();
  private final LongAdder rejected;
  private final LongAdder reports;
  private final LongAdder impossible;

  /** Registers the instruments. */
  public LoadReportMetrics(Meter meter) {
    OurCounters ours = new OurCounters(meter);
    reports = ours.counter(PREFIX + "messages", "Load reports read");
    impossible =
        ours.counter(PREFIX + "impossible", "Clusters with impossible values in a load report");
    rejected = ours.counter(PREFIX + "refused_streams", "Streams ended because of their node id");
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
    rejected.increment();
  }

  @Override
  public void reported() {
    reports.increment();
  }

  @Override
  public void impossible() {
    impossible.increment();
  }
}
