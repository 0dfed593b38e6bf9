package io.throttlekit.service.server;

/** Formats the address of a listener. */
public final class HostPort {

  private HostPort() {}

  /** Returns {@code HOST:PORT}, with brackets around a host that contains colons, as in IPv6. */
  public static String text(String host, int port) {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
