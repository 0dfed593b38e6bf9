package io.throttlekit.service.config;

/**
 * Configuration of a separate HTTP listener for Prometheus, beside the operators' listener.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535
 * @param path path of the metrics, beginning with a slash
 */
public record MetricsConfig(String host, int port, String path) {

  /** Returns the listener at {@code HOST:PORT}, or at {@code :PORT} on every address. */
  static MetricsConfig at(String address, String path) {
    int colon = address.lastIndexOf(':');
    String host = address.substring(0, colon);
    int port = Integer.parseInt(address.substring(colon + 1));
    return new MetricsConfig(host.isEmpty() ? "0.0.0.0" : host, port, path);
  }
}
