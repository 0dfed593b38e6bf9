package io.throttlekit.service.loop;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/**
 * Tracks and limits the open connections of a listener: one beyond the limit is closed before any
 * of its bytes is read, and before TLS. Thread-safe.
 *
 * <p>A listening channel reads accepted connections as its messages, which pass through this
 * handler before they are served.
 */
@Sharable
public final class ConnectionBound extends ChannelInboundHandlerAdapter {
  private final int limit;
  private final HeldByClients held;
  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final LongAdder refused = new LongAdder();

  /**
   * Creates a limit for one listener.
   *
   * @param limit maximum of open connections, from 1
   * @param held limits the memory that each of them holds
   */
  public ConnectionBound(int limit, HeldByClients held) {
    this.limit = limit;
    this.held = held;
  }

  /**
   * Returns a factory of listening channels like {@code channels}, whose connections are tracked
   * here.
   */
  public <C extends ServerChannel> ChannelFactory<C> listening(ChannelFactory<C> channels) {
    return () -> {
      C channel = channels.newChannel();
      channel.pipeline().addLast(this); // ahead of Netty's acceptor, which grpc-java adds later
      return channel;
    };
  }

  /** Returns the open connections; the view changes as they open and close. */
  public Set<Channel> open() {
    return Collections.unmodifiableSet(open);
  }

  /** Returns how many connections were closed because too many were open. */
  public long refused() {
    return refused.sum();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Channel accepted = (Channel) message;
    // One event loop accepts for a listener, so no other thread adds in between.
    if (open.size() >= limit) {
      refused.increment();
      // not yet registered with an event loop, so close() would fail
      accepted.unsafe().closeForcibly();
      return;
    }
    open.add(accepted);
    accepted.pipeline().addFirst(new ClientConnection(held));
    context.fireChannelRead(accepted);
  }
}
