package io.throttlekit.demo.load;

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
public final class Backend {
  private final Channel listener;
  private final InFlight inFlight;

  private Backend(Channel listener, InFlight inFlight) {
    this.listener = listener;
    this.inFlight = inFlight;
  }

  /**
   * Serves until its event loops are shut down.
   *
   * @throws IOException if no port is available
   */
  public static Backend start(Workers workers, EventLoopGroup loops) throws IOException {
    InFlight inFlight = new InFlight();
    ChannelFuture bound =
        new ServerBootstrap()
            .group(loops)
            .channel(EventLoops.serverChannel())
            .childHandler(new Connection(workers, inFlight))
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("the upstream cannot listen on loopback", bound.cause());
    }
    return new Backend(bound.channel(), inFlight);
  }

  /** Returns its port on loopback. */
  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /** Returns the count of requests that are waiting or being served. */
  public InFlight inFlight() {
    return inFlight;
  }

  private static final class Connection extends ChannelInitializer<Channel> {
    private final Workers workers;
    private final InFlight inFlight;

    Connection(Workers workers, InFlight inFlight) {
      this.workers = workers;
      this.inFlight = inFlight;
    }

    @Override
    protected void initChannel(Channel channel) {
      channel
          .pipeline()
          .addLast(
              Http2FrameCodecBuilder.forServer()
                  .decoderEnforceMaxRstFramesPerWindow(0, 0) // timeouts are not an attack
                  .build(),
              new Http2MultiplexHandler(new Streams(workers, inFlight)));
    }
  }

  private static final class Streams extends ChannelInitializer<Channel> {
    private final Workers workers;
    private final InFlight inFlight;

    Streams(Workers workers, InFlight inFlight) {
      this.workers = workers;
      this.inFlight = inFlight;
    }

    @Override
    protected void initChannel(Channel stream) {
      stream.pipeline().addLast(new Request(workers, inFlight));
    }
  }

  private static final class Request extends SimpleChannelInboundHandler<Http2StreamFrame> {
    private final Workers workers;
    private final InFlight inFlight;
    private Workers.@Nullable Job job;
    private boolean counted;

    Request(Workers workers, InFlight inFlight) {
      this.workers = workers;
      this.inFlight = inFlight;
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
        counted = true;
        inFlight.begin();
        job = workers.accept(() -> answer(stream));
      }
    }

    private void answer(ChannelHandlerContext stream) {
      ended(); // before Envoy can know of the end, and send another request
      var _ =
          stream.writeAndFlush(
              new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("200"), true));
    }

    @Override
    public void channelInactive(ChannelHandlerContext stream) {
      ended();
      if (job != null) {
        job.leave();
      }
    }

    private void ended() {
      if (counted) {
        counted = false;
        inFlight.end();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext stream, Throwable cause) {
      var _ = stream.close(); // the client has left
    }
  }
}
