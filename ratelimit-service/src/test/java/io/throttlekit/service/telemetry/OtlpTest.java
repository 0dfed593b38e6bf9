package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.netty.pkitesting.X509Bundle;
import io.throttlekit.service.config.TelemetryConfig;
import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.net.Authority;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtlpTest {
  private static final Authority OURS = Authority.named("ours");

  private final Queue<String> requests = new ConcurrentLinkedQueue<>();

  @TempDir Path folder;

  @Test
  void sendsHeadersOverTlsWithItsCertificateToACollectorOfAnAuthority() throws Exception {
    X509Bundle client = OURS.issue("client");
    Path ca = OURS.writeTo(folder.resolve("ca.pem"));
    Path certificate = Authority.certificate(folder.resolve("tls.crt"), client);
    Path key = Authority.key(folder.resolve("tls.key"), client);
    try (ServerSocket collector = Authority.listen(OURS.issue("localhost"), OURS)) {
      Thread.ofVirtual().start(() -> serve(collector));
      TelemetryConfig config =
          Configured.telemetry(
              Map.ofEntries(
                  Map.entry("THROTTLEKIT_TELEMETRY_OTLP_METRICS", "true"),
                  Map.entry("TRACING_ENABLED", "true"),
                  Map.entry(
                      "OTEL_EXPORTER_OTLP_ENDPOINT",
                      "https://localhost:" + collector.getLocalPort()),
                  Map.entry("OTEL_EXPORTER_OTLP_TIMEOUT", "" + AwaitLimit.LIMIT.toMillis()),
                  Map.entry("OTEL_EXPORTER_OTLP_HEADERS", "x-token=general"),
                  Map.entry("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-token=of%20traces"),
                  Map.entry("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
                  Map.entry("OTEL_EXPORTER_OTLP_CERTIFICATE", ca.toString()),
                  Map.entry("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", certificate.toString()),
                  Map.entry("OTEL_EXPORTER_OTLP_CLIENT_KEY", key.toString())));
      await()
          .untilAsserted(() -> {
            requests.clear();
            TelemetryTest.sendUntilClosed(config);
            assertThat(requests)
                .hasSize(2)
                .allMatch(request -> request.contains("content-encoding: gzip"))
                .anyMatch(
                    r -> r.startsWith("post /v1/metrics ") && r.contains("x-token: general\n"))
                .anyMatch(
                    r -> r.startsWith("post /v1/traces ") && r.contains("x-token: of traces\n"));
          });
    }
  }

  @Test
  void aFileThatCannotBeUsedIsNamed() throws IOException {
    Path no = Files.writeString(folder.resolve("no.pem"), "nothing");
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            Telemetry.start(
                Configured.telemetry(
                    Map.of("TRACING_ENABLED", "true", "OTEL_EXPORTER_OTLP_CERTIFICATE", no + ""))))
        .withMessageContaining(no + " holds no certificate");
  }

  /** Answers one request for each connection; the exporters open one each. */
  private void serve(ServerSocket collector) {
    try {
      while (true) {
        Socket accepted = collector.accept();
        Thread.ofVirtual().start(() -> answer(accepted));
      }
    } catch (SocketException e) { // closed
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void answer(Socket accepted) {
    try (accepted) {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(accepted.getInputStream(), StandardCharsets.ISO_8859_1));
      StringBuilder head = new StringBuilder();
      for (String line = lines.readLine(); line != null && !line.isEmpty(); ) {
        head.append(line.toLowerCase(Locale.ROOT)).append('\n');
        line = lines.readLine();
      }
      requests.add(head.toString());
      accepted
          .getOutputStream()
          .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
