package io.throttlekit.envoy.ads;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Reads from a peer only while it reads. HTTP/2 acknowledges each ping and each change of settings,
 * so that a peer that sends them and reads nothing would fill the memory.
 */
final class ReadWhileWritable extends ChannelInboundHandlerAdapter {

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
    context.channel().config().setAutoRead(context.channel().isWritable());
  }
}
