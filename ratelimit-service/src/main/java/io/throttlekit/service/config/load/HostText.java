package io.throttlekit.service.config.load;

import io.netty.util.NetUtil;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Syntax of hosts and of addresses {@code HOST:PORT}. Before a port, an IPv6 address is in
 * brackets: {@code [::1]:9090}.
 */
final class HostText {
  private static final Pattern NAME = Pattern.compile("[0-9A-Za-z_.-]{1,255}");
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");
  private static final int MAX_PORT = 65_535;

  private HostText() {}

  /** Returns the host without brackets; null if it is neither a name nor an IP address. */
  static @Nullable String host(String text) {
    boolean bracketed = text.startsWith("[") && text.endsWith("]");
    String bare = bracketed ? text.substring(1, text.length() - 1) : text;
    if (NetUtil.isValidIpV6Address(bare) && !bare.startsWith("[")) {
      return bare;
    }
    return !bracketed && NAME.matcher(text).matches() ? text : null;
  }

  /**
   * Returns a text {@code HOST:PORT}; null if it is none.
   *
   * @param minPort smallest port
   * @throws InvalidTextException for an IPv6 address without its brackets
   */
  static @Nullable String target(String text, int minPort) throws InvalidTextException {
    return hostOf(text).isEmpty() ? null : address(text, minPort);
  }

  /**
   * Returns a text {@code HOST:PORT} or {@code :PORT}; null if it is none.
   *
   * @param minPort smallest port
   * @throws InvalidTextException for an IPv6 address without its brackets
   */
  static @Nullable String address(String text, int minPort) throws InvalidTextException {
    String port = text.substring(text.lastIndexOf(':') + 1);
    if (port.length() == text.length() || !PORT.matcher(port).matches()) {
      return null;
    }
    String before = text.substring(0, text.length() - port.length() - 1);
    String host = before.isEmpty() ? "" : host(before);
    if (host == null || portOf(text) < minPort || portOf(text) > MAX_PORT) {
      return null;
    }
    if (host.equals(before) && host.indexOf(':') >= 0) {
      throw new InvalidTextException(
          "an IPv6 address is in brackets before a port", "[" + host + "]:" + port);
    }
    return text;
  }

  /** Returns the host of an address, without brackets; empty if it has none. */
  static String hostOf(String address) {
    String host = address.substring(0, Math.max(0, address.lastIndexOf(':')));
    return host.startsWith("[") ? host.substring(1, Math.max(1, host.length() - 1)) : host;
  }

  /** Returns the port of an address. */
  static int portOf(String address) {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }
}
