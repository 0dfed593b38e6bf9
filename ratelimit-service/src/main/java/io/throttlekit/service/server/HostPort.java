package io.throttlekit.service.server;

/** How the address of a listener is written. */
public final class HostPort {

  private HostPort() {}

  /** {@code HOST:PORT}, with brackets around the host where it has colons itself, as in IPv6. */
  public static String text(String host, int port) {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
