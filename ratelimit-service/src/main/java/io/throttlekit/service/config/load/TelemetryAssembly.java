package io.throttlekit.service.config.load;

import io.throttlekit.service.config.StatsdConfig;
import io.throttlekit.service.config.TelemetryConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The typed configuration of metrics, traces, logs and statsd from the values of settings. */
final class TelemetryAssembly {

  private TelemetryAssembly() {}

  /** Returns the typed configuration. It is meaningless when there are errors. */
  static TelemetryConfig of(SettingValues values) {
    return new TelemetryConfig(
        values.flag("telemetry.prometheus"),
        values.flag("telemetry.otlp_metrics"),
        values.flag("telemetry.tracing"),
        values.ratio("telemetry.sampling_ratio"),
        values.text("telemetry.otlp_protocol"),
        values.text("telemetry.otlp_endpoint"),
        values.text("telemetry.service_name"),
        values.text("telemetry.log_level"),
        values.text("telemetry.log_format"),
        values.ratio("telemetry.near_limit_ratio"),
        values.count("telemetry.max_series"),
        values.duration("telemetry.refusal_log_interval"),
        values.text("telemetry.service_namespace"),
        values.text("telemetry.service_instance"),
        values.flag("telemetry.prometheus") ? values.path("metrics.mappings") : null,
        statsd(values));
  }

  /** Returns the statsd server that receives statistics; null for none. */
  private static @Nullable StatsdConfig statsd(SettingValues values) {
    String section = "telemetry.statsd.";
    if (!values.flag(section + "enabled")) {
      for (String setting :
          List.of("host", "port", "protocol", "format", "tags", "flush_interval")) {
        values.warnIfSet(section + setting, section + "enabled is false");
      }
      return null;
    }
    boolean dog = values.text(section + "format").equals("dogstatsd");
    boolean udp = values.text(section + "protocol").equals("udp");
    return new StatsdConfig(
        values.text(section + "host"),
        values.count(section + "port"),
        udp ? StatsdConfig.Protocol.UDP : StatsdConfig.Protocol.TCP,
        dog ? StatsdConfig.Format.DOGSTATSD : StatsdConfig.Format.STATSD,
        Form.pairs(values.text(section + "tags")),
        values.duration(section + "flush_interval"));
  }
}
