package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the export of metrics or spans over OTLP. Its text shows no header.
 *
 * @param protocol {@code http} or {@code grpc}
 * @param endpoint URL; empty for the exporter's default, a collector on this host
 * @param headers of each export, by name; may contain secrets
 * @param timeout of an export
 * @param compression {@code none} or {@code gzip}
 * @param ca PEM certificates that must have signed the collector's; absent for those that Java
 *     trusts
 * @param certificate PEM chain of this process; absent, with the key, for none
 * @param key PEM private key of the certificate
 */
public record OtlpConfig(
    String protocol,
    String endpoint,
    Map<String, String> headers,
    Duration timeout,
    String compression,
    @Nullable Path ca,
    @Nullable Path certificate,
    @Nullable Path key) {

  /** Validates the protocol. */
  public OtlpConfig {
    if (!protocol.equals("http") && !protocol.equals("grpc")) {
      throw new IllegalArgumentException("OTLP goes over http or grpc, not " + protocol);
    }
    headers = Map.copyOf(headers);
  }

  @Override
  public String toString() {
    return "OtlpConfig[protocol=" + protocol + ", headers=" + headers.keySet() + "]";
  }
}
