package io.throttlekit.envoy.ads;

import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A subscription over the loopback interface, on a thread of its own. Only its clock is the test's.
 */
final class Connected implements AutoCloseable {
  static final String CONNECTED = "connected";

  final VirtualTime time = new VirtualTime();
  private final List<String> versions = new CopyOnWriteArrayList<>();
  private final List<String> connections = new CopyOnWriteArrayList<>();
  private final ConfigSubscription subscription;
  private final @Nullable ClientTls tls;
  private volatile int port;

  /** Starts with an address on the loopback interface. */
  Connected(int port, @Nullable ClientTls tls) {
    this(port, tls, ControlPlaneAddress.DEFAULT_KEEP_ALIVE);
  }

  Connected(int port, @Nullable ClientTls tls, Duration keepAlive) {
    this(port, tls, keepAlive, 1_000);
  }

  Connected(int port, @Nullable ClientTls tls, Duration keepAlive, int maxMessageBytes) {
    this.port = port;
    this.tls = tls;
    this.subscription =
        new ConfigSubscription(
            Subscribed.SETTINGS,
            executor ->
                new ControlPlaneAddress(
                        "127.0.0.1:" + this.port, this.tls, maxMessageBytes, keepAlive)
                    .open(executor),
            new Recorder(),
            time,
            time,
            new SplittableRandom(1));
    subscription.start("");
  }

  /** Starts a server on a free port. */
  static Server serve(BindableService service) {
    return serve(service.bindService(), null);
  }

  static Server serve(ServerServiceDefinition service, @Nullable SslContext tls) {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(service);
    if (tls != null) {
      builder.sslContext(tls);
    }
    try {
      return builder.build().start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Connects to another port the next time. */
  void moveTo(int newPort) {
    port = newPort;
  }

  /** Awaits the next connection or disconnection after the first {@code known} of them. */
  String awaitConnection(int known) {
    await().until(() -> connections.size() > known);
    return connections.get(known);
  }

  void awaitVersion(String version) {
    await().until(() -> versions.contains(version));
  }

  /**
   * Returns how many connections and disconnections were reported; for {@link #awaitConnection}.
   */
  int known() {
    return connections.size();
  }

  @Override
  public void close() {
    subscription.close();
  }

  private final class Recorder implements ConfigListener {
    @Override
    public Optional<String> received(String version, List<Any> resources) {
      versions.add(version);
      return Optional.empty();
    }

    @Override
    public void connected() {
      connections.add(CONNECTED);
    }

    @Override
    public void disconnected(String reason) {
      connections.add(reason);
    }
  }
}
