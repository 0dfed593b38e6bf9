package io.throttlekit.service.telemetry;

import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/**
 * Exporters to one collector.
 *
 * @param protocol {@code http} or {@code grpc}
 * @param endpoint base URL, to which {@code http} appends the path of each signal; empty for the
 *     exporter's default, a collector on this host
 */
record Otlp(String protocol, String endpoint) {
  private static final String HTTP = "http";

  /** Validates the protocol. */
  Otlp {
    if (!protocol.equals(HTTP) && !protocol.equals("grpc")) {
      throw new IllegalArgumentException("OTLP goes over http or grpc, not " + protocol);
    }
  }

  MetricExporter metrics() {
    if (protocol.equals(HTTP)) {
      return endpoint.isEmpty()
          ? OtlpHttpMetricExporter.getDefault()
          : OtlpHttpMetricExporter.builder().setEndpoint(url("/v1/metrics")).build();
    }
    return endpoint.isEmpty()
        ? OtlpGrpcMetricExporter.getDefault()
        : OtlpGrpcMetricExporter.builder().setEndpoint(endpoint).build();
  }

  SpanExporter spans() {
    if (protocol.equals(HTTP)) {
      return endpoint.isEmpty()
          ? OtlpHttpSpanExporter.getDefault()
          : OtlpHttpSpanExporter.builder().setEndpoint(url("/v1/traces")).build();
    }
    return endpoint.isEmpty()
        ? OtlpGrpcSpanExporter.getDefault()
        : OtlpGrpcSpanExporter.builder().setEndpoint(endpoint).build();
  }

  private String url(String path) {
    if (endpoint.endsWith(path)) {
      return endpoint;
    }
    return (endpoint.endsWith("/") ? endpoint.substring(0, endpoint.length() - 1) : endpoint)
        + path;
  }
}
