package io.throttlekit.service.config.load;

import io.throttlekit.service.config.OtlpConfig;
import io.throttlekit.service.config.StatsdConfig;
import io.throttlekit.service.config.TelemetryConfig;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The typed configuration of metrics, traces, logs and statsd from the values of settings. */
final class TelemetryAssembly {
  private static final String GENERAL = "telemetry.otlp_";
  private static final String TRACES = "telemetry.otlp_traces_";

  private TelemetryAssembly() {}

  /** Returns the typed configuration. It is meaningless when there are errors. */
  static TelemetryConfig of(SettingValues values) {
    return new TelemetryConfig(
        values.flag("telemetry.prometheus"),
        values.flag("telemetry.otlp_metrics"),
        values.flag("telemetry.tracing"),
        values.ratio("telemetry.sampling_ratio"),
        values.flag("telemetry.trace_descriptors"),
        export(values, GENERAL, "/v1/metrics"),
        export(values, TRACES, "/v1/traces"),
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

  /** Returns the export of one signal; what a section does not set, the general one sets. */
  private static OtlpConfig export(SettingValues values, String section, String path) {
    String protocol = values.text(GENERAL + "protocol");
    String base = values.text(GENERAL + "endpoint");
    String common = protocol.equals("http") ? url(base, path) : base;
    String own = section.equals(GENERAL) ? "" : values.text(section + "endpoint");
    Duration timeout = values.duration(section + "timeout");
    String certificate = set(values, section, "certificate");
    return new OtlpConfig(
        protocol,
        own.isEmpty() ? common : own,
        decoded(values, set(values, section, "headers")),
        timeout.isZero() ? values.duration(GENERAL + "timeout") : timeout,
        values.text(set(values, section, "compression")),
        values.path(set(values, section, "ca")),
        values.path(certificate),
        values.path(certificate.replace("certificate", "key")));
  }

  /** Returns the setting of a section, or the general one where it has no value. */
  private static String set(SettingValues values, String section, String name) {
    return (values.text(section + name).isEmpty() ? GENERAL : section) + name;
  }

  /** Returns the URL of a signal below the base URL of a collector. */
  private static String url(String base, String path) {
    if (base.isEmpty() || base.endsWith(path)) {
      return base;
    }
    return (base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path;
  }

  /** Returns headers whose values may have characters as {@code %XX}. */
  private static Map<String, String> decoded(SettingValues values, String setting) {
    Map<String, String> headers = new TreeMap<>(Pairs.headers(values, setting, "="));
    headers.replaceAll((name, value) -> {
      String decoded = decoded(value);
      if (decoded.chars().allMatch(c -> c >= ' ' && c <= '~')) {
        return decoded;
      }
      values.error(
          values.origin(setting), "the value of " + name + " is not printable ASCII or %XX of it");
      return "";
    });
    return headers;
  }

  private static String decoded(String value) {
    try {
      return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException _) { // its message may have a part of the secret
      return "\0";
    }
  }

  /** Returns the statsd server that receives statistics; null for none. */
  private static @Nullable StatsdConfig statsd(SettingValues values) {
    String section = "telemetry.statsd.";
    if (!values.flag(section + "enabled")) {
      for (String setting :
          List.of("host", "port", "protocol", "format", "tags", "rewrites", "flush_interval")) {
        values.warnIfSet(section + setting, section + "enabled is false");
      }
      return null;
    }
    boolean dog = values.text(section + "format").equals("dogstatsd");
    if (!dog) {
      values.warnIfSet(section + "rewrites", section + "format is statsd");
    }
    boolean udp = values.text(section + "protocol").equals("udp");
    return new StatsdConfig(
        values.text(section + "host"),
        values.count(section + "port"),
        udp ? StatsdConfig.Protocol.UDP : StatsdConfig.Protocol.TCP,
        dog ? StatsdConfig.Format.DOGSTATSD : StatsdConfig.Format.STATSD,
        Form.pairs(values.text(section + "tags")),
        ((StatsdRewrites) values.get(section + "rewrites")).rules(),
        values.duration(section + "flush_interval"));
  }
}
