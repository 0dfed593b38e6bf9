package io.throttlekit.service.config;

/**
 * Configuration of the HTTP listener for {@code /healthcheck}, {@code /metrics} and {@code /json}.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535
 * @param json whether {@code /json} is served
 * @param jsonRefunds whether requests to it may return units
 * @param maxConnections maximum number of open connections
 */
public record HttpConfig(
    String host, int port, boolean json, boolean jsonRefunds, int maxConnections) {

  /**
   * The HTTP listener for operators, on loopback unless configured otherwise.
   *
   * @param host address to listen on
   * @param port from 0 (any free one) to 65535
   */
  public record DebugConfig(String host, int port) {}

  /**
   * Configuration of a separate HTTP listener for Prometheus, beside the operators' listener.
   *
   * @param host address to listen on
   * @param port from 0 (any free one) to 65535
   * @param path path of the metrics, beginning with a slash
   */
  public record MetricsConfig(String host, int port, String path) {}
}
