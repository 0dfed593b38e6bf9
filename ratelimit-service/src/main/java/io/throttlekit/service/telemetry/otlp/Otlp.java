package io.throttlekit.service.telemetry.otlp;

import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.PemFiles;
import io.throttlekit.service.config.OtlpConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Exporters over OTLP, which log failures. Their builders have the same methods, but no type in
 * common.
 */
public final class Otlp {
  private Otlp() {}

  /**
   * Returns an exporter of metrics.
   *
   * @throws IllegalArgumentException if the endpoint or a TLS file is not valid
   */
  public static MetricExporter metrics(OtlpConfig config, TimeSource time) {
    return new ReportedMetricExporter(
        metrics(config), new ExportReports("metrics", address(config), time));
  }

  private static MetricExporter metrics(OtlpConfig config) {
    if (config.protocol().equals("grpc")) {
      var grpc = OtlpGrpcMetricExporter.builder();
      configure(config, grpc::setEndpoint, grpc::setCompression, grpc::setTimeout, grpc::addHeader);
      secure(config, grpc::setTrustedCertificates, grpc::setClientTls);
      return grpc.build();
    }
    var http = OtlpHttpMetricExporter.builder();
    configure(config, http::setEndpoint, http::setCompression, http::setTimeout, http::addHeader);
    secure(config, http::setTrustedCertificates, http::setClientTls);
    return http.build();
  }

  /**
   * Returns an exporter of spans.
   *
   * @throws IllegalArgumentException if the endpoint or a TLS file is not valid
   */
  public static SpanExporter spans(OtlpConfig config, TimeSource time) {
    return new ReportedSpanExporter(
        spans(config), new ExportReports("spans", address(config), time));
  }

  private static SpanExporter spans(OtlpConfig config) {
    if (config.protocol().equals("grpc")) {
      var grpc = OtlpGrpcSpanExporter.builder();
      configure(config, grpc::setEndpoint, grpc::setCompression, grpc::setTimeout, grpc::addHeader);
      secure(config, grpc::setTrustedCertificates, grpc::setClientTls);
      return grpc.build();
    }
    var http = OtlpHttpSpanExporter.builder();
    configure(config, http::setEndpoint, http::setCompression, http::setTimeout, http::addHeader);
    secure(config, http::setTrustedCertificates, http::setClientTls);
    return http.build();
  }

  /** Returns host and port of the collector: the rest of its URL may contain secrets. */
  private static String address(OtlpConfig config) {
    if (config.endpoint().isEmpty()) {
      return "the collector on this host";
    }
    URI uri = URI.create(config.endpoint()); // valid, as the exporter has it
    return uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort());
  }

  private static void configure(
      OtlpConfig config,
      Consumer<String> endpoint,
      Consumer<String> compression,
      Consumer<Duration> timeout,
      BiConsumer<String, String> header) {
    if (!config.endpoint().isEmpty()) {
      endpoint.accept(config.endpoint());
    }
    compression.accept(config.compression());
    timeout.accept(config.timeout());
    config.headers().forEach(header);
  }

  private static void secure(
      OtlpConfig config, Consumer<byte[]> trusted, BiConsumer<byte[], byte[]> client) {
    Path ca = config.ca();
    Path certificate = config.certificate();
    Path key = config.key();
    try {
      if (ca != null) {
        byte[] pem = PemFiles.bytes(ca);
        PemFiles.certificates(ca, pem); // reports what is wrong with the file
        trusted.accept(pem);
      }
      if (certificate != null && key != null) {
        KeyStore.PrivateKeyEntry own = PemFiles.identity(certificate, key);
        client.accept(PemFiles.pkcs8(own.getPrivateKey()), PemFiles.bytes(certificate));
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("OTLP: " + e.getMessage(), e);
    }
  }
}
