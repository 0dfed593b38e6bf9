package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.trace.v1.Span;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.fleet.ServiceProcess;
import io.throttlekit.service.telemetry.OtlpCollector;
import io.throttlekit.service.telemetry.OtlpCollector.Sent;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.ProjectRoot;
import io.throttlekit.testkit.envoy.RealEnvoy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A region of the demo mesh with its own files, whose Envoy and service export traces. */
@RealEnvoy
@RealRedis
class EnvoyTracingTest {
  private static final int REQUESTS_TO_FLUSH = 8;

  private final Path files =
      Objects.requireNonNull(ProjectRoot.find()).resolve("deploy").resolve("mesh");

  @TempDir Path folder;

  @Test
  void aDecisionIsTracedFromEnvoyThroughTheRegionToTheCoordinator() throws Exception {
    try (OtlpCollector collector = OtlpCollector.start();
        RedisProcess near = RedisProcess.start();
        RedisProcess far = RedisProcess.start();
        Upstream upstream = Upstream.start()) {
      try (ServiceProcess service = service(near, far, collector);
          EnvoyProcess envoy = envoy(service, upstream, collector)) {
        sendRequest(envoy);
        // Spans of one request arrive in several exports.
        await().untilAsserted(() -> assertChain(collector.spans()));
      }
    }
  }

  private static void assertChain(List<Sent> all) {
    Sent lease =
        all.stream()
            .filter(sent -> sent.span().getName().equals("coordinator.lease"))
            .findFirst()
            .orElseThrow(() -> new AssertionError("no lease of the coordinator yet"));
    Sent decide = parent(lease, all);
    assertThat(decide.span().getName()).isEqualTo("ratelimit.decide");
    assertThat(decide.service()).isEqualTo("throttlekit-eu");
    assertThat(all)
        .filteredOn(sent -> sent.span().getParentSpanId().equals(decide.span().getSpanId()))
        .extracting(sent -> sent.span().getName())
        .contains("escrow.lease", "coordinator.lease", "escrow.refill");
    Sent call = parent(decide, all);
    assertThat(call.service()).isEqualTo("envoy");
    assertThat(call.span().getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_CLIENT);
    assertThat(decide.span().getEndTimeUnixNano())
        .as("a decision ends before Envoy has its answer")
        .isLessThanOrEqualTo(call.span().getEndTimeUnixNano());
    assertThat(decide.span().getAttributesList())
        .extracting(attribute -> attribute.getKey())
        .contains("ratelimit.descriptor", "ratelimit.limit", "ratelimit.cost");
    Sent request = parent(call, all);
    assertThat(request.service()).isEqualTo("envoy");
    assertThat(request.span().getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
    assertThat(request.span().getParentSpanId()).isEqualTo(ByteString.EMPTY);
  }

  private static Sent parent(Sent of, List<Sent> all) {
    return all.stream()
        .filter(sent -> sent.span().getTraceId().equals(of.span().getTraceId()))
        .filter(sent -> sent.span().getSpanId().equals(of.span().getParentSpanId()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no parent of " + of + " in " + all));
  }

  private ServiceProcess service(RedisProcess near, RedisProcess far, OtlpCollector collector)
      throws IOException {
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_STORE_URI", near.url(),
            "THROTTLEKIT_FEDERATION_DEADLINE", "20s",
            "THROTTLEKIT_FEDERATION_REGION", "eu",
            "THROTTLEKIT_FEDERATION_COORDINATOR", far.url(),
            "THROTTLEKIT_TELEMETRY_TRACING", "true",
            "THROTTLEKIT_TELEMETRY_SERVICE_NAME", "throttlekit-eu",
            "THROTTLEKIT_TELEMETRY_OTLP_PROTOCOL", "grpc",
            "THROTTLEKIT_TELEMETRY_OTLP_TIMEOUT", "5m",
            "THROTTLEKIT_TELEMETRY_OTLP_ENDPOINT", "http://127.0.0.1:" + collector.port());
    return ServiceProcess.start(
        files.resolve("policies"), environment, 0, folder.resolve("service.log"));
  }

  private EnvoyProcess envoy(ServiceProcess service, Upstream upstream, OtlpCollector collector)
      throws IOException {
    String bootstrap =
        EnvoyExample.patient(Files.readString(files.resolve("envoy.yaml")), Duration.ofSeconds(60))
            .replace("0.0.0.0, port_value: 9901", "127.0.0.1, port_value: 0")
            .replace("0.0.0.0, port_value: 10000", "127.0.0.1, port_value: 0")
            .replace("throttlekit, port_value: 8081", "127.0.0.1, port_value: " + service.port())
            .replace("upstream, port_value: 8000", "127.0.0.1, port_value: " + upstream.port())
            .replace(
                "otel-collector, port_value: 4317", "127.0.0.1, port_value: " + collector.port());
    return EnvoyProcess.start(EnvoyProgram.path(), bootstrap, folder);
  }

  private static void sendRequest(EnvoyProcess envoy) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + envoy.port() + "/");
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (int i = 0; i < REQUESTS_TO_FLUSH; i++) {
        HttpRequest request = HttpRequest.newBuilder(uri).build();
        assertThat(client.send(request, BodyHandlers.discarding()).statusCode()).isEqualTo(200);
      }
    }
  }
}
