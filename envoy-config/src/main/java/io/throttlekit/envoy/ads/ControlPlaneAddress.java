package io.throttlekit.envoy.ads;

import io.grpc.ManagedChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A control plane at a TCP address.
 *
 * @param target host and port, as {@code envoy-gateway:18001}; the host is resolved for each
 *     connection
 * @param tls absent for plaintext
 * @param maxMessageBytes longest response, from 1; a longer one ends the stream
 * @param keepAlive time without data after which the connection is probed by an HTTP/2 ping, from
 *     10 s. A server may end connections that ping more often than it permits, which is every five
 *     minutes for gRPC servers by default
 */
public record ControlPlaneAddress(
    String target, @Nullable ClientTls tls, int maxMessageBytes, Duration keepAlive)
    implements ControlPlane {
  /** The default of gRPC. */
  public static final int DEFAULT_MAX_MESSAGE_BYTES = 4 << 20;

  /** Above what gRPC servers permit by default. */
  public static final Duration DEFAULT_KEEP_ALIVE = Duration.ofSeconds(330);

  @Override
  public ManagedChannel open(Executor executor) throws IOException {
    throw new IOException("not yet");
  }
}
