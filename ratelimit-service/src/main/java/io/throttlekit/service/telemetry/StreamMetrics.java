package io.throttlekit.service.telemetry;

import io.throttlekit.service.concurrency.sensors.StreamListener;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of the streams on which Envoys report one kind of event. Thread-safe. */
abstract class StreamMetrics implements StreamListener {
  /** The counters of the events. */
  final ByWord<Metric> counts;

  private final Metric rejected;
  private final LongAdder streams = new LongAdder();

  /**
   * Registers the gauge of open streams.
   *
   * @param gauge its name
   * @param description of the gauge
   * @param counts has {@code rejected}
   * @param rejected counts rejected streams
   */
  StreamMetrics(
      OurCounters ours, String gauge, String description, ByWord<Metric> counts, Metric rejected) {
    this.counts = counts;
    this.rejected = rejected;
    ours.gauge(gauge, description, streams::sum);
  }

  @Override
  public final void opened() {
    streams.increment();
  }

  @Override
  public final void closed() {
    streams.decrement();
  }

  @Override
  public final void rejected() {
    counts.increment(rejected);
  }
}
