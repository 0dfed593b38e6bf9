package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import java.util.concurrent.atomic.LongAdder;

/** Counts the clients that the sensors' listener rejects. Create once. Thread-safe. */
public final class SensorMetrics {
  private final LongAdder refused;

  /** Registers the counter. */
  public SensorMetrics(Meter meter) {
    refused =
        new OurCounters(meter)
            .counter(
                "throttlekit_sensors_refused_clients",
                "Calls of clients whose certificates carry no identity that is let in");
  }

  /** Counts a rejected call. */
  public void refused() {
    refused.increment();
  }
}
