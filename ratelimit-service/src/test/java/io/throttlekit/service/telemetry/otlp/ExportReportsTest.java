package io.throttlekit.service.telemetry.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.throttlekit.ManualTime;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.OtlpConfig;
import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.net.ReservedPort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExportReportsTest {
  private final ManualTime time = new ManualTime(1_700_000_000_000L);

  @Test
  void failuresAreOneLineEveryFiveMinutesAndTheEndOfThemIsAnother() {
    ExportReports reports = new ExportReports("spans", "collector:4318", time);
    try (Logged logged = Logged.by(ExportReports.class)) {
      for (int i = 0; i < 1_000; i++) {
        reports.of(CompletableResultCode.ofExceptionalFailure(new IllegalStateException("one")));
      }
      assertThat(logged.linesWithCauses())
          .containsExactly(
              "WARNING spans cannot be exported to collector:4318:"
                  + " java.lang.IllegalStateException: one (failed exports: 1)");
      time.advance(ExportReports.INTERVAL.toNanos());
      reports.of(CompletableResultCode.ofFailure());
      assertThat(logged.lines().getLast())
          .isEqualTo(
              "WARNING spans cannot be exported to collector:4318: no reason is known (failed"
                  + " exports: 1001)");
      reports.of(CompletableResultCode.ofSuccess());
      reports.of(CompletableResultCode.ofSuccess());
      assertThat(logged.lines())
          .hasSize(3)
          .last()
          .isEqualTo("INFO spans are exported to collector:4318 again, after 1001 failed exports");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void anAbsentCollectorIsNamedWithTheReason(String protocol) throws Exception {
    try (ReservedPort port = ReservedPort.take();
        Logged logged = Logged.by(ExportReports.class)) {
      String endpoint = "http://user:secret@127.0.0.1:" + port.number() + "/v1/traces?key=secret";
      export(protocol, endpoint, Duration.ofSeconds(2)); // the exporter retries until then
      assertThat(logged.linesWithCauses())
          .singleElement()
          .asString()
          .startsWith("WARNING spans cannot be exported to 127.0.0.1:" + port.number() + ": ")
          .doesNotContain("secret")
          .hasLineCount(1);
    }
  }

  @Test
  void aRefusalIsNamedByItsStatus() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/",
        exchange -> {
          calls.incrementAndGet();
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(401, -1);
          exchange.close();
        });
    collector.start();
    try (Logged logged = Logged.by(ExportReports.class)) {
      String endpoint = "http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/traces";
      export("http", endpoint, AwaitLimit.LIMIT);
      assertThat(calls).hasPositiveValue();
      assertThat(logged.lines())
          .singleElement()
          .asString()
          .contains(": HTTP status 401 Unauthorized (failed exports: 1)");
    } finally {
      collector.stop(0);
    }
  }

  private void export(String protocol, String endpoint, Duration timeout) {
    OtlpConfig config =
        new OtlpConfig(protocol, endpoint, Map.of(), timeout, "none", null, null, null);
    SpanExporter exporter = Otlp.spans(config, time);
    TestSpanData span =
        TestSpanData.builder()
            .setName("n")
            .setKind(SpanKind.SERVER)
            .setStartEpochNanos(1)
            .setEndEpochNanos(2)
            .setHasEnded(true)
            .setStatus(StatusData.ok())
            .build();
    try (Logged _ = Logged.by("io.opentelemetry.exporter")) { // off in the service
      CompletableResultCode result = exporter.export(List.of(span));
      assertThat(result.join(AwaitLimit.LIMIT.toSeconds(), TimeUnit.SECONDS).isDone()).isTrue();
      assertThat(result.isSuccess()).isFalse();
    }
    exporter.shutdown().join(AwaitLimit.LIMIT.toSeconds(), TimeUnit.SECONDS);
  }
}
