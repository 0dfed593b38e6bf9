package io.throttlekit.envoy.ads;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.throttlekit.envoy.HostPort;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * A control plane at a TCP address.
 *
 * <p>A dead connection is found in two ways. TCP's own probes find a host or network that is gone
 * within a minute, and no server counts them. HTTP/2 pings find a process that no longer answers,
 * but servers end connections that ping more often than they permit.
 *
 * @param target host and port, as {@code envoy-gateway:18001}; the host is resolved for each
 *     connection
 * @param tls absent for plaintext
 * @param maxMessageBytes longest response, from 1; a longer one ends the stream
 * @param keepAlive time without data after which an HTTP/2 ping is sent, from 10 s
 */
public record ControlPlaneAddress(
    String target, @Nullable ClientTls tls, int maxMessageBytes, Duration keepAlive)
    implements ControlPlane {
  /** The default of gRPC, and of envoyproxy/ratelimit. */
  public static final int DEFAULT_MAX_MESSAGE_BYTES = 4 << 20;

  /** Just above the five minutes that gRPC servers permit by default, as Envoy Gateway's does. */
  public static final Duration DEFAULT_KEEP_ALIVE = Duration.ofSeconds(330);

  private static final Duration PING_TIMEOUT = Duration.ofSeconds(20);
  private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
  private static final int PROBE_AFTER_SECONDS = 30;
  private static final int PROBE_INTERVAL_SECONDS = 10;
  private static final int PROBES = 3;

  /**
   * @throws IllegalArgumentException when a value is out of range
   */
  public ControlPlaneAddress {
    if (HostPort.parse(target) == null) {
      throw new IllegalArgumentException(
          "the address of a control plane is HOST:PORT, as envoy-gateway:18001, not '"
              + PeerText.line(target)
              + "'");
    }
    if (maxMessageBytes < 1) {
      throw new IllegalArgumentException("the longest response has at least 1 byte");
    }
    if (keepAlive.toSeconds() < 10) {
      throw new IllegalArgumentException("HTTP/2 pings are sent every 10 s at most");
    }
  }

  @Override
  public ManagedChannel open(Executor executor) throws IOException {
    SslContext context = tls == null ? null : tls.context(); // fails before anything is started
    boolean epoll = Epoll.isAvailable();
    EventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(
            1,
            new DefaultThreadFactory("control-plane-io", true),
            epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
    NettyChannelBuilder builder =
        NettyChannelBuilder.forTarget(uri())
            .eventLoopGroup(loop)
            .channelFactory(() -> {
              Channel channel = epoll ? new EpollSocketChannel() : new NioSocketChannel();
              channel.pipeline().addLast(new ReadWhileWritable());
              return channel;
            })
            .executor(executor)
            .maxInboundMessageSize(maxMessageBytes)
            .keepAliveTime(keepAlive.toNanos(), TimeUnit.NANOSECONDS)
            .keepAliveTimeout(PING_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
            .disableServiceConfigLookUp()
            .disableRetry(); // the subscription does, at its own pace
    probe(builder, epoll);
    if (tls == null || context == null) {
      builder.usePlaintext();
    } else {
      builder.sslContext(context);
      if (tls.serverName() != null) {
        builder.overrideAuthority(tls.serverName());
      }
    }
    ManagedChannel channel = builder.build();
    endWith(channel, loop);
    return channel;
  }

  /** Returns the URI of the target, as whose path an IPv6 address is encoded. */
  private String uri() {
    return "dns:///" + target.replace("%", "%25").replace("[", "%5B").replace("]", "%5D");
  }

  /** Ends the event loop after the channel is shut down. */
  private static void endWith(ManagedChannel channel, EventLoopGroup loop) {
    ConnectivityState state = channel.getState(false);
    if (state == ConnectivityState.SHUTDOWN) {
      var _ = loop.shutdownGracefully();
    } else {
      channel.notifyWhenStateChanged(state, () -> endWith(channel, loop));
    }
  }

  /** Returns the target, for log lines. */
  @Override
  public String toString() {
    return target;
  }

  private static void probe(NettyChannelBuilder builder, boolean epoll) {
    builder.withOption(ChannelOption.SO_KEEPALIVE, true);
    if (epoll) {
      builder.withOption(EpollChannelOption.TCP_KEEPIDLE, PROBE_AFTER_SECONDS);
      builder.withOption(EpollChannelOption.TCP_KEEPINTVL, PROBE_INTERVAL_SECONDS);
      builder.withOption(EpollChannelOption.TCP_KEEPCNT, PROBES);
    } else {
      builder.withOption(
          NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), PROBE_AFTER_SECONDS);
      builder.withOption(
          NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), PROBE_INTERVAL_SECONDS);
      builder.withOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), PROBES);
    }
  }
}
