package io.throttlekit.service.server;

import io.grpc.BindableService;
import io.grpc.Codec;
import io.grpc.DecompressorRegistry;
import io.grpc.Server;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.HostPort;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.TlsConfig;
import io.throttlekit.service.loop.ClosedConnections;
import io.throttlekit.service.loop.ConnectionBound;
import io.throttlekit.service.loop.FrameBounds;
import io.throttlekit.service.loop.HeldByClients;
import io.throttlekit.service.loop.LoopLiveness;
import io.throttlekit.service.server.Health.Obstacle;
import io.throttlekit.store.RootCause;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Serves rate-limit requests, Envoy's other services (such as external authorization), health and,
 * where it is enabled, reflection over gRPC.
 *
 * <p>All calls run on the event loops, so nothing behind them may block. Thread-safe; started once
 * and stopped once.
 */
public final class GrpcServer {
  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(GrpcServer.class);

  /** Interval between two reads of the TLS files; renewed certificates overlap for far longer. */
  static final Duration TLS_POLL_INTERVAL = Duration.ofSeconds(5);

  /**
   * Loggers of grpc-java and Netty that clients could flood. A client that disconnects with calls
   * open, or sends bytes that are no message, causes a warning with a stack trace; one that is
   * disconnected for its resets, and each frame of a refused call, causes a line. Held strongly,
   * because {@code java.util.logging} forgets the level of a logger that was collected.
   */
  private static final List<Logger> STREAM_ERRORS =
      Stream.of(
              "io.grpc.netty.NettyServerHandler",
              "io.grpc.netty.NettyServerStream",
              "io.grpc.netty.NettyServerTransport",
              "io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder")
          .map(Logger::getLogger)
          .toList();

  /**
   * Maximum bytes that a connection may have sent without being read: less than Netty reads in a
   * row (16 times 64 KiB). Without it, grpc-java sizes the window by its own estimate of the
   * bandwidth-delay product, up to 8 MiB, and the buffer of a connection that sent without pause
   * grew to 12 MiB.
   */
  public static final int UNREAD_BYTES = 256 << 10;

  /** Maximum open streams on the port of decisions, such as health watches. */
  private static final int MAX_WATCHES = 1_000;

  /** Maximum duration of a TLS handshake, which holds memory before its client is known. */
  private static final Duration HANDSHAKE = Duration.ofSeconds(10);

  /**
   * The compressions that grpc-java supports, unadvertised: advertising gzip adds a header to every
   * answer, though requests are smaller than compressed ones.
   */
  private static final DecompressorRegistry COMPRESSIONS =
      DecompressorRegistry.emptyInstance()
          .with(Codec.Identity.NONE, false)
          .with(new Codec.Gzip(), false);

  private final GrpcConfig config;
  private final Health health;
  private final ConnectionBound connections;
  private final ClosedConnections closed;
  private final HeldByClients held;
  private final FrameBounds frames;
  private final Server server;
  private final Transport transport;
  private final EventLoopGroup eventLoops;
  private final boolean ownsLoops;
  private final @Nullable ServerTls tls;
  private final @Nullable UnixSocketFile socketFile;
  private final OpenStreams streams;

  /**
   * Creates a server that is not listening yet.
   *
   * @param more other services; their streams are ended when the server drains
   * @param shared event loops that their owner ends; null for event loops of its own
   * @param tlsPollInterval interval between two reads of the TLS files
   * @throws ListenException when it could never listen, such as for lack of a certificate
   */
  GrpcServer(
      GrpcConfig config,
      CallHandler service,
      List<ServerServiceDefinition> more,
      Health health,
      @Nullable EventLoopGroup shared,
      Duration tlsPollInterval) {
    this(config, service, more, health, shared, tlsPollInterval, MAX_WATCHES);
  }

  private GrpcServer(
      GrpcConfig config,
      @Nullable CallHandler service,
      List<ServerServiceDefinition> more,
      Health health,
      @Nullable EventLoopGroup shared,
      Duration tlsPollInterval,
      int maxStreams) {
    this.streams = new OpenStreams(maxStreams);
    this.config = config;
    this.health = health;
    TimeSource time = service == null ? TimeSource.system() : service.time();
    GrpcConfig.Limits limits = config.limits();
    this.closed = new ClosedConnections(time);
    this.held =
        new HeldByClients(
            Transport.loops(config.eventLoops()), limits.messageBytes(), time, closed);
    this.frames =
        new FrameBounds(limits.callsPerConnection(), limits.framesPerSecond(), time, closed);
    this.connections = new ConnectionBound(limits.connections(), held);
    this.transport = Transport.of(config);
    TlsConfig tlsConfig = config.tls();
    this.tls =
        tlsConfig == null ? null : ServerTls.follow(tlsConfig, tlsPollInterval, connections.open());
    Path socket = config.unixSocket();
    this.socketFile = socket == null ? null : new UnixSocketFile(socket);
    this.ownsLoops = shared == null;
    this.eventLoops = shared == null ? transport.eventLoops(config.eventLoops(), time) : shared;
    STREAM_ERRORS.forEach(logger -> logger.setLevel(Level.SEVERE));
    try {
      this.server = build(service, more);
    } catch (Throwable e) { // no reference to this escapes, so only this can stop the threads
      releaseThreads();
      throw e;
    }
  }

  /**
   * Creates a server for these services alone, on threads of its own, that is not listening yet.
   * While it listens it is healthy, so that Envoys can check each port that they connect to.
   *
   * @param maxStreams streams of all connections together, from 1
   * @throws ListenException when it could never listen
   */
  public static GrpcServer ofStreams(
      GrpcConfig config, List<ServerServiceDefinition> services, int maxStreams) {
    Health own = new Health();
    own.clear(Obstacle.STARTING);
    return new GrpcServer(config, null, services, own, null, TLS_POLL_INTERVAL, maxStreams);
  }

  /**
   * Creates event loops that can serve this configuration, for a store that needs them before there
   * is a server.
   *
   * @param time the clock of the service, by which the ages of requests are measured
   * @throws ListenException when the host has no transport for the configured address
   */
  public static EventLoopGroup eventLoops(GrpcConfig config, TimeSource time) {
    return Transport.of(config).eventLoops(config.eventLoops(), time);
  }

  /** Returns the number of event loops of a server with this configuration. */
  public static int eventLoops(GrpcConfig config) {
    return Transport.loops(config.eventLoops());
  }

  /**
   * Binds the address and begins to serve.
   *
   * @throws ListenException when the address cannot be bound
   */
  public void start() {
    try {
      if (socketFile != null) {
        socketFile.removeStale();
      }
      server.start();
    } catch (IOException e) {
      release();
      throw ListenException.at(describeAddress(), reason(e), e);
    } catch (ListenException e) {
      release();
      throw e;
    }
  }

  /** Returns the number of open connections. */
  public int openConnections() {
    return connections.open().size();
  }

  /** Returns how many calls were read and are not yet answered, without streams. */
  public long callsInProgress() {
    return held.callsInProgress();
  }

  /** Includes the event loops of this server in a check. */
  public void checkedBy(LoopLiveness liveness) {
    liveness.add(eventLoops);
  }

  /** Returns how many connections were closed at once because too many were open. */
  public long refusedConnections() {
    return connections.refused();
  }

  /** Returns counts of the connections that were closed because of what their clients did. */
  public ClosedConnections closedConnections() {
    return closed;
  }

  /** Returns how many calls were refused because too many were in progress on their connection. */
  public long refusedCalls() {
    return frames.refusedCalls();
  }

  /** Returns how many streams were ended at once because too many were open. */
  public long refusedStreams() {
    return streams.refused();
  }

  /** Returns the port listened on, or −1 for a Unix socket. */
  public int port() {
    return server.getPort();
  }

  /** Returns the address listened on, {@code HOST:PORT} or the path of a socket. */
  public String address() {
    List<? extends SocketAddress> addresses = server.getListenSockets();
    return !addresses.isEmpty() && addresses.getFirst() instanceof InetSocketAddress tcp
        ? HostPort.text(config.host(), tcp.getPort())
        : describeAddress();
  }

  /**
   * Drains and stops.
   *
   * <p>Health becomes {@code NOT_SERVING}; after the configured delay connections receive GOAWAY
   * and streams are ended; rate-limit calls in progress complete, or are cancelled after the
   * configured timeout. Returns when no call is in progress; the event loops end soon after. An
   * interrupt skips the waiting.
   */
  public void stop() {
    stop(true);
  }

  /** Stops like {@link #stop}, and does not warn of cancelled calls: this process made them. */
  public void stopOwnCalls() {
    stop(false);
  }

  private void stop(boolean warns) {
    health.raise(Obstacle.DRAINING);
    try {
      // Not shut down yet, so this waits the whole delay.
      var _ = server.awaitTermination(config.drain().delay().toNanos(), TimeUnit.NANOSECONDS);
      server.shutdown();
      streams.end();
      if (!server.awaitTermination(config.drain().timeout().toNanos(), TimeUnit.NANOSECONDS)) {
        // Clients may also have kept connections open, or closed them a moment ago.
        if (warns && held.callsInProgress() > 0) {
          LOG.warn(
              "cancelling the calls that are still in progress after {}", config.drain().timeout());
        }
        // shutdownNow has cancelled all calls: only their last events are left.
        boolean ended = server.shutdownNow().awaitTermination(1, TimeUnit.SECONDS);
        LOG.debug("all calls ended: {}", ended);
      }
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
    } finally {
      release();
    }
  }

  private Server build(@Nullable CallHandler service, List<ServerServiceDefinition> more) {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(
                transport.address(),
                BoundedNegotiator.credentials(tls == null ? null : tls.context(), frames))
            .channelFactory(
                connections.listening(new ReflectiveChannelFactory<>(transport.channelType())))
            .bossEventLoopGroup(eventLoops)
            .workerEventLoopGroup(eventLoops)
            .directExecutor()
            .flowControlWindow(UNREAD_BYTES)
            .decompressorRegistry(COMPRESSIONS)
            .addStreamTracerFactory(held.calls())
            .maxInboundMessageSize(config.limits().messageBytes())
            .maxInboundMetadataSize(config.limits().headerBytes())
            .maxConcurrentCallsPerConnection(config.limits().callsPerConnection())
            .maxRstFramesPerWindow(config.limits().resetsPerSecond(), 1)
            .handshakeTimeout(HANDSHAKE.toSeconds(), TimeUnit.SECONDS)
            .permitKeepAliveTime(config.keepAlive().permitted().toNanos(), TimeUnit.NANOSECONDS)
            .permitKeepAliveWithoutCalls(true);
    builder.addService(lasting(health.service().bindService()));
    if (service != null) {
      builder.addService(service.definition());
    }
    if (service != null && config.reflection()) {
      builder
          .addService(lasting(ProtoReflectionServiceV1.newInstance().bindService()))
          .addService(lasting(reflectionAlpha().bindService()));
    }
    for (ServerServiceDefinition other : more) {
      builder.addService(lasting(other));
    }
    set(builder::keepAliveTime, config.keepAlive().time());
    set(builder::keepAliveTimeout, config.keepAlive().timeout());
    set(builder::maxConnectionAge, config.connectionAge().most());
    set(builder::maxConnectionAgeGrace, config.connectionAge().grace());
    set(builder::maxConnectionIdle, config.connectionAge().idle());
    if (socketFile != null) {
      // Set by the builder; Unix sockets do not support it and would warn at every connection.
      builder.withChildOption(ChannelOption.SO_KEEPALIVE, null);
    }
    return builder.build();
  }

  /** Passes a duration to a setter of gRPC, which rejects 0; here it means "not set". */
  private static void set(BiConsumer<Long, TimeUnit> setter, Duration value) {
    if (value.isPositive()) {
      setter.accept(value.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private ServerServiceDefinition lasting(ServerServiceDefinition service) {
    return ServerInterceptors.intercept(LenientRequests.of(service), streams);
  }

  @SuppressWarnings("deprecation") // many tools still use v1alpha
  private static BindableService reflectionAlpha() {
    return io.grpc.protobuf.services.ProtoReflectionService.newInstance();
  }

  private void release() {
    // Not after a failed bind, when the file may belong to another process.
    if (socketFile != null && server.isShutdown()) {
      try {
        Files.deleteIfExists(socketFile.path());
      } catch (IOException e) {
        LOG.warn("the socket file {} could not be removed", config.unixSocket(), e);
      }
    }
    releaseThreads();
  }

  private void releaseThreads() {
    if (tls != null) {
      tls.close();
    }
    if (ownsLoops) {
      var _ = eventLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  private String describeAddress() {
    Path socket = config.unixSocket();
    return socket != null ? socket.toString() : HostPort.text(config.host(), config.port());
  }

  /** Returns the message of the root cause, without the name of the system call that failed. */
  private static String reason(IOException e) {
    Throwable cause = RootCause.innermost(e);
    String message = cause.getMessage();
    return message == null
        ? cause.getClass().getSimpleName()
        : message.replaceFirst("^\\w+\\(\\.\\.\\) failed with error\\(-?\\d+\\): ", "");
  }
}
