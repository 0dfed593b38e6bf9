package io.throttlekit.envoy.ads;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.concurrent.TimeUnit;

/**
 * Reads from a peer only while it reads, and while it causes few answers. HTTP/2 acknowledges each
 * ping and each change of settings: a peer that sends them without end would fill the memory if it
 * reads nothing, and keep a processor busy if it reads.
 */
final class ReadWhileWritable extends ChannelDuplexHandler {
  /** Writes in a period: answers and updates of windows are some hundred, even of 64 MiB. */
  static final int MAX_WRITES = 1_000;

  static final long PERIOD_MILLIS = 100;

  private int writes;

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    writes++;
    if (writes == 1) {
      var _ =
          context
              .executor()
              .schedule(() -> endPeriod(context), PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }
    var _ = context.write(message, promise);
  }

  private void endPeriod(ChannelHandlerContext context) {
    writes = 0;
    follow(context);
  }

  @Override
  public void read(ChannelHandlerContext context) {
    // Netty's HTTP/2 requests reads itself while automatic ones are off.
    if (mayRead(context)) {
      context.read();
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    context.fireChannelRead(message);
    follow(context); // ends the reads of this turn, too
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.fireChannelReadComplete(); // writes what the reads have caused
    follow(context);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    context.fireChannelWritabilityChanged();
    follow(context);
  }

  private boolean mayRead(ChannelHandlerContext context) {
    return writes < MAX_WRITES && context.channel().isWritable();
  }

  private void follow(ChannelHandlerContext context) {
    context.channel().config().setAutoRead(mayRead(context)); // reads, if it is on again
  }
}
