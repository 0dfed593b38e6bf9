package io.throttlekit.service.loop;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableLongCounter;
import io.opentelemetry.api.metrics.ObservableLongGauge;
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

  /**
   * Registers the number of open and of rejected connections.
   *
   * @param prefix of the names of the instruments
   * @return removes the instruments
   */
  public Runnable show(Meter meter, String prefix) {
    ObservableLongGauge connections =
        meter
            .gaugeBuilder(prefix + "connections")
            .ofLongs()
            .setDescription("gRPC connections that are open")
            .buildWithCallback(measured -> measured.record(open.get()));
    ObservableLongCounter beyond =
        meter
            .counterBuilder(prefix + "refused_connections")
            .setDescription("gRPC connections closed at once because too many were open")
            .buildWithCallback(measured -> measured.record(refused.sum()));
    return () -> {
      connections.close();
      beyond.close();
    };
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
