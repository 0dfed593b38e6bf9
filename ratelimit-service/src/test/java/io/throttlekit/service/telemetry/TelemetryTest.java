package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.grpc.Metadata;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.TelemetryConfig;
import io.throttlekit.service.telemetry.traces.DecisionTracing;
import io.throttlekit.service.telemetry.traces.TracedValues;
import io.throttlekit.testkit.AwaitLimit;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class TelemetryTest {

  @Test
  void namesTheServiceInAScrape() throws IOException {
    try (Telemetry telemetry = Telemetry.start(config(false, "http", ""))) {
      telemetry.meter().counterBuilder("any").build().add(1);
      Scrape scrape = Objects.requireNonNull(telemetry.scrape());
      assertThat(scrape.page(null).body()).contains("target_info{", "service_name=\"named\"");
    }
  }

  @Test
  void namesTheReplicaUnlessItsIdIsConfigured() throws IOException {
    Map<String, String> environment = Map.of("TRACING_SERVICE_INSTANCE_ID", "own");
    for (boolean configured : new boolean[] {false, true}) {
      TelemetryConfig config =
          configured ? Configured.telemetry(environment) : config(false, "http", "");
      try (Telemetry telemetry = Telemetry.start(config, "pod-1", TimeSource.system())) {
        telemetry.meter().counterBuilder("any").build().add(1);
        assertThat(Objects.requireNonNull(telemetry.scrape()).page(null).body())
            .contains("service_instance_id=\"" + (configured ? "own" : "pod-1") + "\"");
      }
    }
  }

  @Test
  void sendsSpansAndMetricsToACollectorBeforeItCloses() throws IOException {
    Queue<String> paths = new ConcurrentLinkedQueue<>();
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/",
        exchange -> {
          paths.add(exchange.getRequestURI().getPath());
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    try {
      String endpoint = "http://127.0.0.1:" + collector.getAddress().getPort();
      await()
          .untilAsserted(() -> {
            sendUntilClosed(config(true, "http", endpoint));
            assertThat(paths).contains("/v1/metrics", "/v1/traces");
          });
    } finally {
      collector.stop(0);
    }
  }

  @Test
  void sendsSpansAndMetricsOverGrpc() throws IOException {
    try (OtlpCollector collector = OtlpCollector.start()) {
      String endpoint = "http://127.0.0.1:" + collector.port();
      await()
          .untilAsserted(() -> {
            sendUntilClosed(config(true, "grpc", endpoint));
            assertThat(collector.metrics()).containsOnly("named: any");
            assertThat(collector.spans())
                .extracting(OtlpCollector.Sent::service)
                .containsOnly("named");
          });
    }
  }

  /**
   * Exports a metric and a span when the telemetry closes. The SDK ends the export of metrics after
   * 5 s, in which a busy machine may not even load the exporter's classes.
   */
  static void sendUntilClosed(TelemetryConfig config) {
    Telemetry telemetry = Telemetry.start(config);
    telemetry.meter().counterBuilder("any").build().add(1);
    DecisionTracing tracing = Objects.requireNonNull(telemetry.tracing());
    Objects.requireNonNull(tracing.start(new Metadata())).end();
    telemetry.close(AwaitLimit.LIMIT);
  }

  @Test
  void closesDespiteAHangingExporter() {
    StuckExporter stuck = new StuckExporter();
    Telemetry telemetry =
        new Telemetry(
            SdkMeterProvider.builder()
                .registerMetricReader(PeriodicMetricReader.create(stuck))
                .build(),
            null,
            null,
            1,
            TracedValues.PLAIN);
    telemetry.meter().counterBuilder("any").build().add(1);
    telemetry.close();
    assertThat(stuck.never.hasQueuedThreads()).as("still stuck").isTrue();
    stuck.never.release();
  }

  @Test
  void startsNoDisabledExporter() throws IOException {
    try (Telemetry telemetry =
        Telemetry.start(
            Configured.telemetry(Map.of("THROTTLEKIT_TELEMETRY_PROMETHEUS", "false")))) {
      assertThat(telemetry.scrape()).isNull();
      assertThat(telemetry.tracing()).isNull();
    }
  }

  private static final class StuckExporter implements MetricExporter {
    final Semaphore never = new Semaphore(0);

    @Override
    public CompletableResultCode export(Collection<MetricData> metrics) {
      never.acquireUninterruptibly();
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public AggregationTemporality getAggregationTemporality(InstrumentType instrument) {
      return AggregationTemporality.CUMULATIVE;
    }
  }

  private static TelemetryConfig config(boolean otlp, String protocol, String endpoint) {
    return Configured.telemetry(
        Map.of(
            "THROTTLEKIT_TELEMETRY_OTLP_METRICS",
            String.valueOf(otlp),
            "THROTTLEKIT_TELEMETRY_TRACING",
            String.valueOf(otlp),
            "THROTTLEKIT_TELEMETRY_OTLP_PROTOCOL",
            protocol,
            "THROTTLEKIT_TELEMETRY_OTLP_ENDPOINT",
            endpoint,
            "THROTTLEKIT_TELEMETRY_OTLP_TIMEOUT",
            AwaitLimit.LIMIT.toSeconds() + "s",
            "THROTTLEKIT_TELEMETRY_SERVICE_NAME",
            "named"));
  }
}
