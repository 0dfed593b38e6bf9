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

  /**
   * TCP address.
   *
   * @param host a name or an address, that of IPv6 in brackets
   * @param port from 0 to 65535
   */
  record Tcp(String host, int port) implements Target {

    @Override
    public String obstacle() {
      try {
        return InetAddress.getAllByName(host).length == 0 ? "unknown host" : "";
      } catch (UnknownHostException e) { // gRPC would print a stack trace
        return "unknown host";
      }
    }

    @Override
    public Connection open(Consumer<NettyChannelBuilder> security) {
      NettyChannelBuilder builder = NettyChannelBuilder.forAddress(host, port);
      security.accept(builder);
      ManagedChannel channel = builder.build();
      return new Connection(channel, channel::shutdownNow);
    }

    @Override
    public String toString() {
      return host + ":" + port;
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

    private static final Pattern TCP =
        Pattern.compile("([0-9A-Za-z_.-]+|\\[[0-9A-Fa-f:.]+(?:%[0-9A-Za-z_.-]+)?\\]):([0-9]{1,5})");
    private static final Pattern UNIX = Pattern.compile("unix:(?://(?=/))?(.+)");

    @Override
    public Target convert(String text) {
      Matcher port = TCP.matcher(text);
      if (port.matches() && Integer.parseInt(port.group(2)) <= 65_535) {
        return new Tcp(port.group(1), Integer.parseInt(port.group(2)));
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
