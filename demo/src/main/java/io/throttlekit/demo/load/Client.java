package io.throttlekit.demo.load;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.throttlekit.TimeSource;
import io.throttlekit.testkit.net.EventLoops;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to an Envoy over HTTP/1.1 without queueing: each takes an idle connection or opens
 * a new one. A request that times out closes its connection.
 *
 * <p>Everything runs on one event loop, on which {@link #send} is called.
 */
public final class Client {
  /** More than are in use at the highest load, and fewer than a process may open. */
  private static final int MAX_CONNECTIONS = 4_000;

  private final EventLoop loop;
  private final long waitTimeoutNanos;
  private final Course course;
  private final TimeSource time;
  private final Bootstrap bootstrap;
  private final Deque<Connection> idle = new ArrayDeque<>();
  private int open;

  /**
   * @param port of an Envoy on loopback
   * @param timeout of a request
   * @param course receives the outcome of each request
   */
  public Client(int port, EventLoop loop, Duration timeout, Course course, TimeSource time) {
    this.loop = loop;
    this.waitTimeoutNanos = timeout.toNanos();
    this.course = course;
    this.time = time;
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(EventLoops.clientChannel())
            .remoteAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_LINGER, 0) // closed with RST: TIME_WAIT would use up the ports
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis())
            .handler(new Pipeline());
  }

  /**
   * Sends a request.
   *
   * @param second of the course
   * @param intendedNanos scheduled time, from which its latency and timeout are measured
   */
  public void send(int second, long intendedNanos) {
    Connection free = idle.pollLast();
    while (free != null && !free.channel.isActive()) { // closed by Envoy while it was idle
      free = idle.pollLast();
    }
    if (free != null) {
      free.begin(second, intendedNanos);
    } else if (open < MAX_CONNECTIONS) {
      open++;
      var _ =
          bootstrap
              .connect()
              .addListener(
                  (ChannelFuture connected) -> connected(connected, second, intendedNanos));
    } else {
      course.failed(second);
    }
  }

  private void connected(ChannelFuture connected, int second, long intendedNanos) {
    if (connected.isSuccess()) {
      connected.channel().pipeline().get(Connection.class).begin(second, intendedNanos);
    } else {
      open--;
      course.failed(second);
    }
  }

  private final class Pipeline extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      channel.pipeline().addLast(new HttpClientCodec(), new Connection(channel));
    }
  }

  private final class Connection extends SimpleChannelInboundHandler<HttpObject> {
    private final Channel channel;
    private @Nullable Future<?> timeoutTask;
    private int second;
    private long intendedNanos;
    private int status;

    Connection(Channel channel) {
      this.channel = channel;
    }

    void begin(int second, long intendedNanos) {
      if (!channel.isActive()) { // closed by Envoy already
        course.failed(second);
        return;
      }
      this.second = second;
      this.intendedNanos = intendedNanos;
      long left = intendedNanos + waitTimeoutNanos - time.monotonicNanos();
      timeoutTask = loop.schedule(this::onTimeout, left, NANOSECONDS);
      var request =
          new DefaultFullHttpRequest(
              HttpVersion.HTTP_1_1, HttpMethod.GET, "/", Unpooled.EMPTY_BUFFER);
      request.headers().set(HttpHeaderNames.HOST, "upstream");
      var _ = channel.writeAndFlush(request);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
      if (part instanceof HttpResponse response) {
        status = response.status().code();
      }
      if (part instanceof LastHttpContent && isUnderWay()) {
        ended();
        course.answered(second, status, time.monotonicNanos() - intendedNanos);
        idle.addLast(this);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      open--;
      if (isUnderWay()) {
        ended();
        course.failed(second);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = channel.close(); // counts the request in progress as failed
    }

    private void onTimeout() {
      var _ = channel.close();
    }

    private boolean isUnderWay() {
      return timeoutTask != null;
    }

    private void ended() {
      if (timeoutTask != null) {
        boolean _ = timeoutTask.cancel(false);
        timeoutTask = null;
      }
    }
  }
}
