package io.throttlekit.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.throttlekit.store.RootCause;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Lettuce's clients, one for each event loop, and their shared resources. */
final class Clients {
  /**
   * The longest pause between connection attempts: requests succeed within 100 ms of Redis's
   * return.
   */
  private static final Duration MAX_RECONNECT_DELAY = Duration.ofMillis(50);

  /** The interval at which a Cluster's slots are read again, besides reading them after errors. */
  private static final Duration TOPOLOGY_REFRESH = Duration.ofSeconds(30);

  /**
   * The shortest interval of reading a Cluster's slots after errors, which costs every node work.
   */
  private static final Duration MIN_REFRESH_INTERVAL = Duration.ofSeconds(1);

  private final RedisSettings settings;
  private final List<RedisURI> uris = new ArrayList<>();
  private final List<AbstractRedisClient> clients = new ArrayList<>();
  private final List<ClientResources> resources = new ArrayList<>();
  private final List<AddressResolverGroup<?>> resolvers = new ArrayList<>();
  private final DnsServerAddressStreamProvider nameServers;
  private final @Nullable SslOptions ssl;
  private final Timer timer;

  /**
   * Creates clients for the settings.
   *
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  Clients(RedisSettings settings) {
    this(settings, DnsServerAddressStreamProviders.platformDefault());
  }

  /** Creates clients that query these name servers. */
  Clients(RedisSettings settings, DnsServerAddressStreamProvider nameServers) {
    this.settings = settings;
    this.nameServers = nameServers;
    RedisSettings.Access.Tls tls = settings.access().tls();
    this.ssl = tls == null ? null : sslOptions(tls);
    String[] urls = settings.cluster() ? settings.url().split(",") : new String[] {settings.url()};
    for (String url : urls) {
      RedisURI uri = parse(url.strip());
      uri.setTimeout(Duration.ofMillis(settings.connectTimeoutMillis()));
      if (uri.isSsl() && tls != null) { // also for its Sentinels
        uri.setVerifyPeer(tls.verifyHost() ? SslVerifyMode.FULL : SslVerifyMode.CA);
      }
      uri.getSentinels().forEach(this::configureSentinel);
      uris.add(uri);
    }
    this.timer = new HashedWheelTimer(new DefaultThreadFactory("redis-timer", true));
  }

  /** Parses a URL of one Redis. */
  static RedisURI parse(String url) {
    if (!url.contains("://")) { // it is not shown: it may contain a password
      throw new IllegalArgumentException(
          "the URL of a Redis begins with a scheme, such as redis://HOST:PORT");
    }
    RedisURI uri = RedisURI.create(url);
    if (uri.getHost() != null) {
      // java.net.URI finds no host where a name has an underscore, and RedisURI then takes the port
      // for a part of the name. Lettuce's parser of lists splits them.
      RedisURI split = RedisClusterURIUtil.toRedisURIs(URI.create(url)).getFirst();
      uri.setHost(split.getHost());
      uri.setPort(split.getPort());
    }
    return uri;
  }

  private void configureSentinel(RedisURI sentinel) {
    RedisSettings.Access access = settings.access();
    sentinel.setTimeout(Duration.ofMillis(settings.connectTimeoutMillis()));
    if (!access.sentinelPassword().isEmpty()) {
      sentinel.setCredentialsProvider(
          new StaticCredentialsProvider(
              access.sentinelUser().isEmpty() ? null : access.sentinelUser(),
              access.sentinelPassword().toCharArray()));
    }
  }

  private boolean useUnixSocket() {
    return uris.getFirst().getSocket() != null;
  }

  /** Creates an event loop of its own for the store. */
  EventLoopGroup ownLoop() {
    Class<? extends EventLoopGroup> type =
        useUnixSocket()
            ? Transports.NativeTransports.eventLoopGroupClass(true)
            : Transports.eventLoopGroupClass();
    return new DefaultEventLoopGroupProvider(1).allocate(type);
  }

  /** Returns the pauses between attempts to connect. */
  static Delay reconnectDelay() {
    return Delay.exponential(Duration.ofMillis(1), MAX_RECONNECT_DELAY, 2, TimeUnit.MILLISECONDS);
  }

  /** Creates an unopened link on {@code loop}, which notifies {@code listener} there. */
  Link<?> link(EventLoop loop, Link.Listener listener) {
    AddressResolverGroup<?> resolver = resolver();
    resolvers.add(resolver);
    ClientResources onLoop =
        DefaultClientResources.builder()
            .addressResolverGroup(resolver)
            .eventLoopGroupProvider(new Only(loop))
            .eventExecutorGroup(loop)
            .timer(timer)
            .reconnectDelay(reconnectDelay())
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .build();
    resources.add(onLoop);
    return settings.cluster()
        ? clusterLink(onLoop, loop, listener)
        : singleLink(onLoop, loop, listener);
  }

  /**
   * Creates a resolver of names for one loop. A resolver lets all its loops wait for the first
   * query of a name, whose answer never comes if the loop of that query ends before. Lettuce's
   * default is one resolver for the whole process.
   */
  private AddressResolverGroup<?> resolver() {
    return new DnsAddressResolverGroup(
        new DnsNameResolverBuilder()
            .datagramChannelType(Transports.datagramChannelClass())
            .socketChannelType(Transports.socketChannelClass().asSubclass(SocketChannel.class))
            .nameServerProvider(nameServers)
            // Before Lettuce gives up a Cluster's node, which would not name the reason.
            .queryTimeoutMillis(settings.connectTimeoutMillis()));
  }

  void close() {
    // No quiet period: lanes have ended their calls before.
    for (AbstractRedisClient client : clients) {
      var _ = client.shutdownAsync(0, 1, TimeUnit.SECONDS);
    }
    for (ClientResources each : resources) {
      var _ = each.shutdown(0, 1, TimeUnit.SECONDS);
    }
    resolvers.forEach(AddressResolverGroup::close);
    timer.stop();
  }

  private Link<?> singleLink(ClientResources onLoop, EventLoop loop, Link.Listener listener) {
    RedisClient client = RedisClient.create(onLoop);
    // A link reconnects by itself, so that no command is sent twice.
    client.setOptions(options(ClientOptions.builder().autoReconnect(false)).build());
    clients.add(client);
    return new SingleLink(client, uris.getFirst(), loop, listener);
  }

  private Link<?> clusterLink(ClientResources onLoop, EventLoop loop, Link.Listener listener) {
    RedisClusterClient client = RedisClusterClient.create(onLoop, uris);
    ClusterClientOptions.Builder options = ClusterClientOptions.builder();
    options(options);
    Duration timeout = Duration.ofMillis(settings.leaseDeadlineMillis());
    client.setOptions(
        options
            .timeoutOptions(TimeoutOptions.enabled(timeout)) // the link cuts no connection itself
            .topologyRefreshOptions(
                ClusterTopologyRefreshOptions.builder()
                    .enablePeriodicRefresh(TOPOLOGY_REFRESH)
                    .adaptiveRefreshTriggersTimeout(MIN_REFRESH_INTERVAL)
                    .refreshTriggersReconnectAttempts(1)
                    .build())
            .build());
    clients.add(client);
    return new ClusterLink(client, loop, listener);
  }

  private ClientOptions.Builder options(ClientOptions.Builder options) {
    if (ssl != null) {
      options.sslOptions(ssl);
    }
    return options
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
        .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()) // lanes do that
        .replayFilter(_ -> true) // repeated commands would be counted twice
        // Bounds the memory of Lettuce; lanes bound the round trips in flight before.
        .requestQueueSize(1_000)
        .socketOptions(
            SocketOptions.builder()
                .connectTimeout(Duration.ofMillis(settings.connectTimeoutMillis()))
                .tcpNoDelay(!useUnixSocket())
                .keepAlive(!useUnixSocket())
                .build());
  }

  /** Returns TLS options that read the files again for each connection. */
  private static SslOptions sslOptions(RedisSettings.Access.Tls tls) {
    SslOptions.Builder builder = SslOptions.builder().jdkSslProvider();
    try {
      Path ca = tls.ca();
      if (ca != null) {
        builder.trustManager(ca.toFile());
      }
      RedisSettings.Access.Identity identity = tls.identity();
      if (identity != null) {
        builder.sslContext(context -> present(identity, context));
      }
      SslOptions options = builder.build();
      // Reads the files now, so that an error is reported at the start.
      var _ = options.createSslContextBuilder();
      return options;
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "no TLS with %s: %s".formatted(tls, RootCause.message(e)), e);
    }
  }

  private static void present(RedisSettings.Access.Identity identity, SslContextBuilder context) {
    try {
      KeyStore.PrivateKeyEntry own = identity.read();
      context.keyManager(own.getPrivateKey(), (X509Certificate[]) own.getCertificateChain());
    } catch (IOException e) { // not a cause: its message names the file, that of its own does not
      throw new IllegalArgumentException(e.getMessage());
    }
  }

  /** Restricts a client to one loop and no other thread. */
  private record Only(EventLoop loop) implements EventLoopGroupProvider {

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
      return (T) loop; // the requested type only names the transport
    }

    @Override
    public int threadPoolSize() {
      return 1;
    }

    @Override
    public Future<Boolean> release(
        EventExecutorGroup group, long quietPeriod, long timeout, TimeUnit unit) {
      return shutdown(quietPeriod, timeout, unit);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
      // The loop is not the client's to shut down.
      return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }
  }
}
