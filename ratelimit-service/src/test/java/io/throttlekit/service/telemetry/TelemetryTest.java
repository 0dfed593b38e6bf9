package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.grpc.Metadata;
import io.throttlekit.service.config.TelemetryConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

class TelemetryTest {

  @Test
  void namesTheServiceInWhatIsScraped() throws IOException {
    try (Telemetry telemetry = Telemetry.start(config(false, "http", ""))) {
      telemetry.meter().counterBuilder("any").build().add(1);
      Scrape scrape = Objects.requireNonNull(telemetry.scrape());
      assertThat(scrape.page(null).body()).contains("target_info{", "service_name=\"named\"");
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
    try (Telemetry telemetry =
        Telemetry.start(
            config(true, "http", "http://127.0.0.1:" + collector.getAddress().getPort()))) {
      telemetry.meter().counterBuilder("any").build().add(1);
      Objects.requireNonNull(telemetry.tracing(() -> 0).start(new Metadata())).end();
    } finally {
      collector.stop(0);
    }

    assertThat(paths).contains("/v1/metrics", "/v1/traces");
  }

  @Test
  void closesInTimeWhenTheCollectorNeverAnswers() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Telemetry telemetry =
          Telemetry.start(config(true, "http", "http://127.0.0.1:" + silent.getLocalPort()));
      telemetry.meter().counterBuilder("any").build().add(1);
      long before = System.nanoTime();
      telemetry.close();

      assertThat(Duration.ofNanos(System.nanoTime() - before))
          .isLessThan(Telemetry.CLOSE_TIMEOUT.plusSeconds(2));
    }
  }

  @Test
  void startsNothingThatIsOff() throws IOException {
    try (Telemetry telemetry =
        Telemetry.start(
            new TelemetryConfig(
                false, false, false, 1, "http", "", "named", "info", "text", 0.8, 10))) {
      assertThat(telemetry.scrape()).isNull();
      assertThat(telemetry.tracing(() -> 0).start(new Metadata())).isNull();
    }
  }

  @Test
  void refusesAProtocolItDoesNotSpeak() {
    assertThatThrownBy(() -> Telemetry.start(config(true, "smtp", "")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("smtp");
  }

  private static TelemetryConfig config(boolean otlp, String protocol, String endpoint) {
    return new TelemetryConfig(
        true, otlp, otlp, 1, protocol, endpoint, "named", "info", "text", 0.8, 10);
  }
}
