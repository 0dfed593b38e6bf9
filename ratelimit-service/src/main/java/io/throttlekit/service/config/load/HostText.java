package io.throttlekit.service.config.load;

import io.throttlekit.envoy.HostPort;
import org.jspecify.annotations.Nullable;

/** Settings that are an address {@code HOST:PORT}: see {@link HostPort}. */
final class HostText {
  private static final String ANY_HOST = "any"; // stands in for a host that may be absent

  private HostText() {}

  /**
   * Returns a text {@code HOST:PORT}; null if it is none.
   *
   * @param minPort smallest port
   * @throws InvalidTextException for an IPv6 address without its brackets
   */
  static @Nullable String target(String text, int minPort) throws InvalidTextException {
    HostPort parsed = HostPort.parse(text);
    if (parsed != null) {
      return parsed.port() < minPort ? null : text;
    }
    int colon = text.lastIndexOf(':');
    String bracketed =
        colon < 0 ? "" : "[" + text.substring(0, colon) + "]" + text.substring(colon);
    if (HostPort.parse(bracketed) != null) {
      throw new InvalidTextException("an IPv6 address is in brackets before a port", bracketed);
    }
    return null;
  }

  /**
   * Returns a text {@code HOST:PORT} or {@code :PORT}; null if it is none.
   *
   * @param minPort smallest port
   * @throws InvalidTextException for an IPv6 address without its brackets
   */
  static @Nullable String address(String text, int minPort) throws InvalidTextException {
    if (text.startsWith(":") && target(ANY_HOST + text, minPort) != null) {
      return text;
    }
    return target(text, minPort);
  }

  /** Returns the host of an address, without brackets; empty if it has none. */
  static String hostOf(String address) {
    return address.startsWith(":") ? "" : parsed(address).host();
  }

  /** Returns the port of an address. */
  static int portOf(String address) {
    return parsed(address.startsWith(":") ? ANY_HOST + address : address).port();
  }

  private static HostPort parsed(String address) {
    HostPort parsed = HostPort.parse(address);
    if (parsed == null) {
      throw new IllegalArgumentException(address + " is not HOST:PORT");
    }
    return parsed;
  }
}
