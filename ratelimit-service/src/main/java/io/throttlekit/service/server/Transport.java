package io.throttlekit.service.server;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.internal.PlatformDependent;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.HostPort;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.loop.LoopThread;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;

/** The transport of a listener: epoll where the host has it, else NIO. */
record Transport(
    SocketAddress address, Class<? extends ServerChannel> channelType, IoHandlerFactory ioHandler) {

  /** Prefix of the names of the event loops' threads. */
  static final String THREADS = "grpc-loop";

  /** Twice what the clients of one loop may always hold ({@code HeldByClients}). */
  private static final long BYTES_PER_LOOP = 4 << 20;

  static Transport of(GrpcConfig config) {
    Path socket = config.unixSocket();
    if (socket != null) {
      if (!Epoll.isAvailable()) {
        throw ListenException.at(
            socket, "a Unix socket needs epoll, which this host does not have", null);
      }
      return new Transport(
          new DomainSocketAddress(socket.toString()),
          EpollServerDomainSocketChannel.class,
          EpollIoHandler.newFactory());
    }
    InetSocketAddress address = new InetSocketAddress(config.host(), config.port());
    if (address.isUnresolved()) {
      throw ListenException.at(HostPort.text(config.host(), config.port()), "unknown host", null);
    }
    return Epoll.isAvailable()
        ? new Transport(address, EpollServerSocketChannel.class, EpollIoHandler.newFactory())
        : new Transport(address, NioServerSocketChannel.class, NioIoHandler.newFactory());
  }

  /**
   * Creates event loops for this transport.
   *
   * @param count 0 for one per core, as far as memory suffices
   * @param time clock by which the ages of requests are measured
   */
  EventLoopGroup eventLoops(int count, TimeSource time) {
    return LoopThread.loops(loops(count), THREADS, ioHandler, time);
  }

  /**
   * Returns the number of event loops: {@code count}; for 0 one per core, and no more than Netty
   * has memory for.
   */
  static int loops(int count) {
    return count == 0
        ? loops(Runtime.getRuntime().availableProcessors(), PlatformDependent.maxDirectMemory())
        : count;
  }

  static int loops(int processors, long directBytes) {
    long affordable = directBytes <= 0 ? processors : directBytes / BYTES_PER_LOOP;
    return Math.clamp(affordable, 1, processors);
  }
}
