package io.throttlekit.service.loop;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Limits the open connections: one beyond the limit is closed before any of its bytes is read, and
 * before TLS. Thread-safe.
 */
@Sharable
public final class ConnectionBound extends ChannelInboundHandlerAdapter {
  private final int limit;
  private final AtomicInteger open = new AtomicInteger();
  private final LongAdder refused = new LongAdder();

  /** Creates a limit of {@code limit} connections, from 1. */
  public ConnectionBound(int limit) {
    this.limit = limit;
  }

  /**
   * Returns a factory of listening channels like {@code channels}, whose connections are counted
   * here.
   */
  public <C extends ServerChannel> ChannelFactory<C> listening(ChannelFactory<C> channels) {
    return () -> {
      C channel = channels.newChannel();
      channel.pipeline().addLast(this); // ahead of Netty's acceptor, which grpc-java adds later
      return channel;
    };
  }

  /** Returns the number of open connections. */
  public int open() {
    return open.get();
  }

  /** Returns how many connections were closed because too many were open. */
  public long refused() {
    return refused.sum();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Channel accepted = (Channel) message;
    if (open.incrementAndGet() > limit) {
      open.decrementAndGet();
      refused.increment();
      // not yet registered with an event loop, so close() would fail
      accepted.unsafe().closeForcibly();
      return;
    }
    accepted.closeFuture().addListener(_ -> open.decrementAndGet());
    context.fireChannelRead(accepted);
  }
}
