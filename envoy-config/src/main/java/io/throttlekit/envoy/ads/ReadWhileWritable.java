package io.throttlekit.envoy.ads;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;

/**
 * Reads from a peer only while it reads. HTTP/2 acknowledges each ping and each change of settings,
 * so that a peer that sends them and reads nothing would fill the memory.
 */
final class ReadWhileWritable extends ChannelDuplexHandler {

  @Override
  public void read(ChannelHandlerContext context) {
    // Netty's HTTP/2 requests reads itself while automatic ones are off.
    if (context.channel().isWritable()) {
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

  private static void follow(ChannelHandlerContext context) {
    context.channel().config().setAutoRead(context.channel().isWritable()); // reads, if it is new
  }
}
