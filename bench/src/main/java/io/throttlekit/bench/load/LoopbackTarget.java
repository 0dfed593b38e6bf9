package io.throttlekit.bench.load;

import io.throttlekit.envoy.HostPort;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * A server on this machine; load is sent to no other.
 *
 * @param address a loopback address with a port from 1 to 65535
 */
public record LoopbackTarget(InetSocketAddress address) {

  public LoopbackTarget {
    InetAddress host = address.getAddress();
    if (host == null || !host.isLoopbackAddress() || address.getPort() < 1) {
      throw new IllegalArgumentException(
          "load goes to a loopback address with a port only, not to " + address);
    }
  }

  /**
   * Parses {@code HOST:PORT}, where the host is {@code localhost} or a literal address; names are
   * never resolved.
   */
  public static LoopbackTarget parse(String text) {
    HostPort parsed = HostPort.parse(text);
    if (parsed == null) {
      throw new IllegalArgumentException("expected HOST:PORT, was " + text);
    }
    String host = parsed.host();
    InetAddress literal = InetAddress.ofLiteral(host.equals("localhost") ? "127.0.0.1" : host);
    return new LoopbackTarget(new InetSocketAddress(literal, parsed.port()));
  }

  @Override
  public String toString() {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
