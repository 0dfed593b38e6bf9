package io.throttlekit.service.config;

/**
 * The HTTP listener for operators, on loopback unless configured otherwise.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535
 */
public record DebugConfig(String host, int port) {

  /** Returns the defaults. */
  public static DebugConfig defaults() {
    return new DebugConfig("127.0.0.1", 6070);
  }
}
