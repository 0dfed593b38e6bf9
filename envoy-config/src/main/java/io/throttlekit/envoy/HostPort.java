package io.throttlekit.envoy;

import io.netty.util.NetUtil;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A host and a port. As text, {@code HOST:PORT}, an IPv6 address is in brackets: {@code
 * [::1]:9090}.
 *
 * @param host a name or an IP address, without brackets
 * @param port from 0 to 65535
 */
public record HostPort(String host, int port) {
  private static final Pattern NAME = Pattern.compile("[0-9A-Za-z_.-]{1,255}");
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");
  private static final int MAX_PORT = 65_535;

  /** Returns the host and port of a text {@code HOST:PORT}; null if it is none. */
  public static @Nullable HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0 || !PORT.matcher(text.substring(colon + 1)).matches()) {
      return null;
    }
    String before = text.substring(0, colon);
    String host = host(before);
    int port = Integer.parseInt(text.substring(colon + 1));
    boolean withoutBrackets = host != null && host.equals(before) && isIpV6(host);
    return host == null || port > MAX_PORT || withoutBrackets ? null : new HostPort(host, port);
  }

  /**
   * Returns the host of a text without brackets, which only an IPv6 address may have; null if it is
   * neither a name nor an IP address.
   */
  public static @Nullable String host(String text) {
    boolean bracketed = text.startsWith("[") && text.endsWith("]");
    String bare = bracketed ? text.substring(1, text.length() - 1) : text;
    if (NetUtil.isValidIpV6Address(bare) && isIpV6(bare)) {
      return bare;
    }
    return !bracketed && NAME.matcher(text).matches() ? text : null;
  }

  /** Returns {@code HOST:PORT}. */
  public static String text(String host, int port) {
    return new HostPort(host, port).toString();
  }

  /** Returns whether a valid host is an IPv6 address: others have no colon. */
  private static boolean isIpV6(String host) {
    return host.indexOf(':') >= 0 && !host.startsWith("["); // Netty takes brackets, too
  }

  @Override
  public String toString() {
    return (isIpV6(host) ? "[" + host + "]" : host) + ":" + port;
  }
}
