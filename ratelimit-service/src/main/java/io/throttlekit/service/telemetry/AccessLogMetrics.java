package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.concurrency.sensors.AccessLogListener;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.util.function.BooleanSupplier;

/** Metrics of the access logs received. No label comes from a log. Create once. Thread-safe. */
public final class AccessLogMetrics extends StreamMetrics implements AccessLogListener {
  private static final String PREFIX = "throttlekit_access_log_";

  private final ByWord<Kind> entries;
  private final ByWord<Skipped> skipped;
  private final BooleanSupplier marks;

  /**
   * Registers the instruments.
   *
   * @param marks returns whether answers of this service leave marks in logs at present; if not, an
   *     entry without one is not counted. Called for each entry without a mark
   */
  public AccessLogMetrics(Meter meter, BooleanSupplier marks) {
    this(new OurCounters(meter), marks);
  }

  private AccessLogMetrics(OurCounters ours, BooleanSupplier marks) {
    super(
        ours,
        PREFIX + "streams",
        "Streams of access logs",
        ours.counters(Metric.ACCESS_LOG_UNMARKED, Metric.ACCESS_LOG_REFUSED_STREAMS),
        Metric.ACCESS_LOG_REFUSED_STREAMS);
    this.marks = marks;
    entries =
        ours.counters(
            PREFIX + "entries", "Entries read, by outcome of the request", "kind", Kind.class);
    skipped = ours.counters(PREFIX + "skipped", "Entries not used", "reason", Skipped.class);
  }

  @Override
  public void withoutNode(int count) {
    counts.add(Metric.ACCESS_LOG_WITHOUT_NODE, count);
  }

  @Override
  public void read(Reading reading) {
    entries.increment(reading.kind());
    if (!reading.marked() && reading.kind().reachedBackend() && marks.getAsBoolean()) {
      counts.increment(Metric.ACCESS_LOG_UNMARKED);
    }
  }

  @Override
  public void skipped(Skipped why, int count) {
    skipped.add(why, count);
  }
}
