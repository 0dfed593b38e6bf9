package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.OtlpConfig;
import io.throttlekit.service.config.TelemetryConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The variables of OpenTelemetry that envoyproxy/ratelimit reads. */
class OtlpSettingsTest {
  private static final Map<String, String> GENERAL =
      Map.of(
          "OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318/",
          "OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20hunter2,b=c+d=e",
          "OTEL_EXPORTER_OTLP_TIMEOUT", "2500",
          "OTEL_EXPORTER_OTLP_COMPRESSION", "gzip",
          "OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem",
          "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "tls.crt",
          "OTEL_EXPORTER_OTLP_CLIENT_KEY", "tls.key");

  private static final Map<String, String> TRACES =
      Map.of(
          "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://vendor/spans",
          "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=of-vendor",
          "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "10000",
          "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "none",
          "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "vendor.pem",
          "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "us.crt",
          "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "us.key");

  @Test
  void generalVariablesHoldForBothSignals() {
    TelemetryConfig telemetry = telemetry(load(GENERAL));
    assertThat(telemetry.metricExport()).isEqualTo(general("https://collector:4318/v1/metrics"));
    assertThat(telemetry.spanExport()).isEqualTo(general("https://collector:4318/v1/traces"));
  }

  @Test
  void variablesOfTracesHoldForTracesOnly() {
    Map<String, String> both = new HashMap<>(GENERAL);
    both.putAll(TRACES);
    TelemetryConfig telemetry = telemetry(load(both));
    assertThat(telemetry.metricExport()).isEqualTo(general("https://collector:4318/v1/metrics"));
    assertThat(telemetry.spanExport())
        .isEqualTo(
            new OtlpConfig(
                "http",
                "https://vendor/spans",
                Map.of("x-key", "of-vendor"),
                Duration.ofSeconds(10),
                "none",
                Path.of("vendor.pem"),
                Path.of("us.crt"),
                Path.of("us.key")));
  }

  @Test
  void overGrpcNoPathIsAdded() {
    TelemetryConfig telemetry =
        telemetry(
            load(
                Map.of(
                    "TRACING_EXPORTER_PROTOCOL", "grpc",
                    "OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317")));
    assertThat(telemetry.spanExport().endpoint()).isEqualTo("http://c:4317");
  }

  @Test
  void headersAreShownNowhere() {
    LoadedConfig loaded = load(GENERAL);
    assertThat(loaded.yaml()).contains("otlp_headers: \"***\"").doesNotContain("hunter2");
    assertThat(loaded.warnings()).isEmpty();
    assertThat(telemetry(loaded).toString()).doesNotContain("hunter2");
  }

  @ParameterizedTest
  @CsvSource({
    "HEADERS, hunter2, each part of telemetry.otlp_headers is NAME=VALUE",
    "HEADERS, a=hunter%2, the value of a is not printable ASCII",
    "HEADERS, a=hunter%0A2, the value of a is not printable ASCII",
    "HEADERS, a b=hunter2, 'the text before a \"=\" is not the name of a header'",
    "HEADERS, Authorization: Basic hunter2==, is not the name of a header",
    "HEADERS, a-bin=hunter2, a-bin is the name of a header with binary values",
    "TIMEOUT, 0, is not a duration from 1ms to 10m",
    "COMPRESSION, zstd, 'is not one of none, gzip'",
    "CLIENT_KEY, tls.key, telemetry.otlp_key needs telemetry.otlp_certificate"
  })
  void mistakesAreReportedWithoutSecrets(String name, String value, String problem) {
    List<String> errors = load(Map.of("OTEL_EXPORTER_OTLP_" + name, value)).errors();
    assertThat(errors).singleElement().asString().contains(problem).doesNotContain("hunter");
  }

  private static OtlpConfig general(String endpoint) {
    return new OtlpConfig(
        "http",
        endpoint,
        Map.of("authorization", "Bearer hunter2", "b", "c+d=e"),
        Duration.ofMillis(2_500),
        "gzip",
        Path.of("ca.pem"),
        Path.of("tls.crt"),
        Path.of("tls.key"));
  }

  private static LoadedConfig load(Map<String, String> environment) {
    return new ConfigLoader(environment).load(Options.of("--policies", "p"));
  }

  private static TelemetryConfig telemetry(LoadedConfig loaded) {
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config()).telemetry();
  }
}
