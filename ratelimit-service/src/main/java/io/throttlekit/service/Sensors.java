package io.throttlekit.service;

import io.grpc.BindableService;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.TimeSource;
import io.throttlekit.service.accesslog.AccessLogs;
import io.throttlekit.service.config.ConcurrencyConfig;
import io.throttlekit.service.load.LoadReports;
import io.throttlekit.service.sensor.Sensed;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.LoadReportMetrics;
import java.util.ArrayList;
import java.util.List;

/** The services by which Envoys say what becomes of their requests, wired by hand. */
final class Sensors {
  private Sensors() {}

  /** Those that are configured, all of which tell {@code sensed}. To be made once. */
  static List<BindableService> of(
      ConcurrencyConfig config, Sensed sensed, Meter meter, TimeSource time) {
    List<BindableService> services = new ArrayList<>(2);
    if (config.accessLog()) {
      services.add(
          new AccessLogs(sensed, new AccessLogMetrics(meter), time, config.samplesPerSecond()));
    }
    if (config.loadReports()) {
      services.add(
          new LoadReports(sensed, new LoadReportMetrics(meter), time, config.loadReportInterval()));
    }
    return services;
  }
}
