package io.throttlekit.service.telemetry;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse;
import io.opentelemetry.proto.collector.metrics.v1.MetricsServiceGrpc.MetricsServiceImplBase;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.TraceServiceGrpc.TraceServiceImplBase;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A collector of OTLP over gRPC that records what it receives. */
public final class OtlpCollector implements AutoCloseable {
  private final Queue<Sent> spans;
  private final Queue<String> metrics;
  private final Server server;

  /** A span, and the name of the service that sent it. */
  public record Sent(String service, Span span) {}

  private OtlpCollector(Queue<Sent> spans, Queue<String> metrics, Server server) {
    this.spans = spans;
    this.metrics = metrics;
    this.server = server;
  }

  /** Starts a collector on loopback. */
  public static OtlpCollector start() throws IOException {
    Queue<Sent> spans = new ConcurrentLinkedQueue<>();
    Queue<String> metrics = new ConcurrentLinkedQueue<>();
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new Spans(spans))
            .addService(new Metrics(metrics))
            .build()
            .start();
    return new OtlpCollector(spans, metrics, server);
  }

  public int port() {
    return server.getPort();
  }

  /** Returns all spans received so far. */
  public List<Sent> spans() {
    return List.copyOf(spans);
  }

  /** Returns all metrics received so far, as service: name. */
  List<String> metrics() {
    return List.copyOf(metrics);
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private static String service(Resource resource) {
    return resource.getAttributesList().stream()
        .filter(attribute -> attribute.getKey().equals("service.name"))
        .map(attribute -> attribute.getValue().getStringValue())
        .findFirst()
        .orElse("nobody");
  }

  private static <T> void answer(StreamObserver<T> reply, T answer) {
    reply.onNext(answer);
    reply.onCompleted();
  }

  private static final class Spans extends TraceServiceImplBase {
    private final Queue<Sent> seen;

    Spans(Queue<Sent> seen) {
      this.seen = seen;
    }

    @Override
    public void export(
        ExportTraceServiceRequest request, StreamObserver<ExportTraceServiceResponse> reply) {
      for (var one : request.getResourceSpansList()) {
        one.getScopeSpansList().stream()
            .flatMap(scope -> scope.getSpansList().stream())
            .forEach(span -> seen.add(new Sent(service(one.getResource()), span)));
      }
      answer(reply, ExportTraceServiceResponse.getDefaultInstance());
    }
  }

  private static final class Metrics extends MetricsServiceImplBase {
    private final Queue<String> seen;

    Metrics(Queue<String> seen) {
      this.seen = seen;
    }

    @Override
    public void export(
        ExportMetricsServiceRequest request, StreamObserver<ExportMetricsServiceResponse> reply) {
      for (var one : request.getResourceMetricsList()) {
        one.getScopeMetricsList().stream()
            .flatMap(scope -> scope.getMetricsList().stream())
            .forEach(metric -> seen.add(service(one.getResource()) + ": " + metric.getName()));
      }
      answer(reply, ExportMetricsServiceResponse.getDefaultInstance());
    }
  }
}
