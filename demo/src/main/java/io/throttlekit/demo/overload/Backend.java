package io.throttlekit.demo.overload;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrame;
import io.throttlekit.testkit.net.EventLoops;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * An upstream on loopback that responds with 200 when one of its {@link Workers} has served the
 * request. It uses HTTP/2 without TLS, so that requests that time out do not cost connections.
 */
final class Backend {
  private final Channel listener;

  private Backend(Channel listener) {
    this.listener = listener;
  }

  /**
   * Serves until its event loops are shut down.
   *
   * @throws IOException if no port is available
   */
  static Backend start(Workers workers, EventLoopGroup loops) throws IOException {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(loops)
            .channel(EventLoops.serverChannel())
            .childHandler(new Connection(workers))
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("the upstream cannot listen on loopback", bound.cause());
    }
    return new Backend(bound.channel());
  }

  int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  private static final class Connection extends ChannelInitializer<Channel> {
    private final Workers workers;

    Connection(Workers workers) {
      this.workers = workers;
    }

    @Override
    protected void initChannel(Channel channel) {
      channel
          .pipeline()
          .addLast(
              Http2FrameCodecBuilder.forServer()
                  .decoderEnforceMaxRstFramesPerWindow(0, 0) // timeouts are not an attack
                  .build(),
              new Http2MultiplexHandler(new Streams(workers)));
    }
  }

  private static final class Streams extends ChannelInitializer<Channel> {
    private final Workers workers;

    Streams(Workers workers) {
      this.workers = workers;
    }

    @Override
    protected void initChannel(Channel stream) {
      stream.pipeline().addLast(new Request(workers));
    }
  }

  private static final class Request extends SimpleChannelInboundHandler<Http2StreamFrame> {
    private final Workers workers;
    private Workers.@Nullable Job job;

    Request(Workers workers) {
      this.workers = workers;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext stream, Http2StreamFrame frame) {
      boolean complete =
          switch (frame) {
            case Http2HeadersFrame headers -> headers.isEndStream();
            case Http2DataFrame data -> data.isEndStream();
            default -> false;
          };
      if (complete) {
        job = workers.accept(() -> answer(stream));
      }
    }

    private static void answer(ChannelHandlerContext stream) {
      var _ =
          stream.writeAndFlush(
              new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("200"), true));
    }

    @Override
    public void channelInactive(ChannelHandlerContext stream) {
      if (job != null) {
        job.leave();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext stream, Throwable cause) {
      var _ = stream.close(); // the client has left
    }
  }
}
