package io.throttlekit.testkit.net;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/** The fastest event loops of this host: epoll where there is epoll, else NIO. */
public final class EventLoops {
  private EventLoops() {}

  /** Creates event loops, each with a thread; the caller shuts them down. */
  public static EventLoopGroup of(int threads) {
    IoHandlerFactory handlers =
        Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    return new MultiThreadIoEventLoopGroup(threads, handlers);
  }

  /** Returns the channel type of clients on these loops. */
  public static Class<? extends Channel> clientChannel() {
    return Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  /** Returns the channel type of servers on these loops. */
  public static Class<? extends ServerChannel> serverChannel() {
    return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }
}
