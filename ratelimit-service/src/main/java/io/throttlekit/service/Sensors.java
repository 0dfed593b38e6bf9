package io.throttlekit.service;

import io.grpc.BindableService;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.TimeSource;
import io.throttlekit.service.accesslog.AccessLogs;
import io.throttlekit.service.concurrency.Leases;
import io.throttlekit.service.config.ConcurrencyConfig;
import io.throttlekit.service.load.LoadReports;
import io.throttlekit.service.sensor.BothSensed;
import io.throttlekit.service.sensor.LoggedEnds;
import io.throttlekit.service.sensor.Sensed;
import io.throttlekit.service.steering.Steering;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.CeilingGauges;
import io.throttlekit.service.telemetry.LoadReportMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The services by which Envoys say what becomes of their requests, wired by hand. */
final class Sensors {
  private Sensors() {}

  /**
   * Those that are configured: what they hear ends leases, and tells {@code steering}, whose own
   * services are there, too. To be made once.
   *
   * @param steering null where this process steers nothing
   * @param marks whether answers leave marks in logs at present
   */
  static List<BindableService> of(
      ConcurrencyConfig config,
      Leases leases,
      @Nullable Steering steering,
      Meter meter,
      TimeSource time,
      BooleanSupplier marks) {
    List<BindableService> services = new ArrayList<>(4);
    Sensed sensed = new LoggedEnds(leases);
    if (steering != null) {
      sensed = new BothSensed(sensed, steering);
      services.addAll(steering.services());
      CeilingGauges.show(meter, steering::forEach);
      CeilingGauges.showHeld(meter, steering::held);
      CeilingGauges.showTurnedAway(meter, steering::turnedAway);
      CeilingGauges.showObedience(meter, steering::forEachObeyed);
      CeilingGauges.showRefusals(meter, steering::forEachRefusals);
    }
    if (config.accessLog()) {
      services.add(
          new AccessLogs(
              sensed, new AccessLogMetrics(meter, marks), time, config.samplesPerSecond()));
    }
    if (config.loadReports()) {
      services.add(
          new LoadReports(sensed, new LoadReportMetrics(meter), time, config.loadReportInterval()));
    }
    return services;
  }
}
