package io.throttlekit.service.cli;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.throttlekit.envoy.HostPort;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Address of a service. */
sealed interface Target {

  /** Returns why no connection is possible from here, whatever listens there; empty when it is. */
  String obstacle();

  /**
   * Opens a connection, which the caller closes.
   *
   * @param security sets TLS or plaintext
   */
  Connection open(Consumer<NettyChannelBuilder> security);

  /**
   * A channel and the threads made for it.
   *
   * @param end closes both
   */
  record Connection(ManagedChannel channel, Runnable end) implements AutoCloseable {
    @Override
    public void close() {
      end.run();
    }
  }

  /** TCP address. */
  record Tcp(HostPort address) implements Target {

    @Override
    public String obstacle() {
      try {
        return InetAddress.getAllByName(address.host()).length == 0 ? "unknown host" : "";
      } catch (UnknownHostException e) { // gRPC would print a stack trace
        return "unknown host";
      }
    }

    @Override
    public Connection open(Consumer<NettyChannelBuilder> security) {
      NettyChannelBuilder builder = NettyChannelBuilder.forAddress(address.host(), address.port());
      security.accept(builder);
      ManagedChannel channel = builder.build();
      return new Connection(channel, channel::shutdownNow);
    }

    @Override
    public String toString() {
      return address.toString();
    }
  }

  /**
   * A Unix socket.
   *
   * @param path of its file
   */
  record Unix(String path) implements Target {

    @Override
    public String obstacle() {
      return Epoll.isAvailable() ? "" : "a Unix socket needs epoll, which this host does not have";
    }

    @Override
    public Connection open(Consumer<NettyChannelBuilder> security) {
      EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
      NettyChannelBuilder builder =
          NettyChannelBuilder.forAddress(new DomainSocketAddress(path))
              .channelType(EpollDomainSocketChannel.class)
              .eventLoopGroup(loop)
              .withOption(ChannelOption.SO_KEEPALIVE, null) // a warning otherwise
              .overrideAuthority("localhost");
      security.accept(builder);
      ManagedChannel channel = builder.build();
      return new Connection(
          channel,
          () -> {
            channel.shutdownNow();
            var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
          });
    }

    @Override
    public String toString() {
      return "unix:" + path;
    }
  }

  /** Parses the argument. */
  final class Converter implements ITypeConverter<Target> {

    private static final Pattern UNIX = Pattern.compile("unix:(?://(?=/))?(.+)");

    @Override
    public Target convert(String text) {
      HostPort address = HostPort.parse(text);
      if (address != null) {
        return new Tcp(address);
      }
      Matcher socket = UNIX.matcher(text);
      if (socket.matches()) {
        return new Unix(socket.group(1));
      }
      throw new TypeConversionException(
          "'" + text + "' is not HOST:PORT, such as 127.0.0.1:8081, or unix:/path of a socket");
    }
  }
}
