package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import java.util.concurrent.atomic.LongAdder;

/** Counts whom the listener for sensors does not let in. To be made once. Thread-safe. */
public final class SensorMetrics {
  private final LongAdder refused;

  /** Registers what is counted. */
  public SensorMetrics(Meter meter) {
    refused =
        new OurCounters(meter)
            .counter(
                "throttlekit_sensors_refused_clients",
                "Calls of clients whose certificates carry no identity that is let in");
  }

  /** Counts a call that was refused. */
  public void refused() {
    refused.increment();
  }
}
