package io.throttlekit.service.config;

/**
 * The HTTP listener for {@code /json}, {@code /healthcheck} and {@code /metrics}.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535
 */
public record HttpConfig(String host, int port) {

  /** What is in force when nothing is configured. */
  public static HttpConfig defaults() {
    return new HttpConfig("0.0.0.0", 8080);
  }
}
