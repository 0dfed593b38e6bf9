package io.throttlekit.service.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The hosts that a request may name. A listener on loopback accepts names of loopback only: a web
 * page could otherwise give its own name an address of loopback, and read pages of this process in
 * the browsers of its visitors (DNS rebinding). Immutable.
 *
 * @param configured the configured host of a listener on loopback, which is accepted, too; null for
 *     a listener that accepts all
 */
record AcceptedHosts(@Nullable String configured) {
  /** Answer to other requests. */
  static final Reply REFUSAL =
      Reply.text(
          421,
          "this port listens on loopback: the host of a request must be localhost, an address of"
              + " 127.0.0.0/8, or [::1]\n");

  /** Returns the hosts of a listener that is bound to this address. */
  static AcceptedHosts of(String host, InetAddress bound) {
    return new AcceptedHosts(bound.isLoopbackAddress() ? host : null);
  }

  /**
   * Returns whether every host that the request names is accepted. One that names none is accepted:
   * browsers always name one.
   */
  boolean accept(HttpRequest request) {
    if (configured == null) {
      return true;
    }
    List<String> named = request.headers().getAll(HttpHeaderNames.HOST);
    for (int i = 0; i < named.size(); i++) {
      if (!isAccepted(named.get(i))) {
        return false;
      }
    }
    String target = request.uri();
    return target.startsWith("/") || isAccepted(authority(target));
  }

  private boolean isAccepted(String authority) {
    String host = host(authority.strip()).toLowerCase(Locale.ROOT);
    return host.isEmpty()
        || host.equals("localhost")
        || host.equals("localhost.")
        || host.equalsIgnoreCase(configured)
        || isLoopback(host);
  }

  /** Returns the host without its port and without brackets. */
  private static String host(String authority) {
    if (authority.startsWith("[")) {
      int end = authority.indexOf(']');
      boolean isComplete =
          end > 0 && (end == authority.length() - 1 || authority.charAt(end + 1) == ':');
      return isComplete ? authority.substring(1, end) : authority;
    }
    int colon = authority.indexOf(':');
    return colon < 0 ? authority : authority.substring(0, colon);
  }

  private static boolean isLoopback(String address) {
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(address);
    try {
      return bytes != null && InetAddress.getByAddress(bytes).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e); // 4 or 16 bytes are an address
    }
  }

  /** Returns the authority of a request target in absolute form; empty if it has none. */
  private static String authority(String target) {
    try {
      String authority = URI.create(target).getRawAuthority();
      return authority == null ? "" : authority.substring(authority.lastIndexOf('@') + 1);
    } catch (IllegalArgumentException malformed) {
      return ""; // such a request is answered with an error
    }
  }
}
