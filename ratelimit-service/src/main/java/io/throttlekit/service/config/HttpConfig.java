package io.throttlekit.service.config;

/**
 * The HTTP listener for {@code /healthcheck}, {@code /metrics} and {@code /json}.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535
 * @param json whether {@code /json} is served
 * @param jsonRefunds whether requests to it may give units back
 * @param maxConnections most open connections
 */
public record HttpConfig(
    String host, int port, boolean json, boolean jsonRefunds, int maxConnections) {

  /** Returns what applies when nothing is configured. */
  public static HttpConfig defaults() {
    return new HttpConfig("0.0.0.0", 8080, false, false, 1_024);
  }
}
