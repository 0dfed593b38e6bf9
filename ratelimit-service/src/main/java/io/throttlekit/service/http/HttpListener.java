package io.throttlekit.service.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers HTTP/1.1 on one address: connections on one event loop, each request on a virtual thread.
 *
 * <p>On loopback, requests to other hosts are refused ({@link AcceptedHosts}). {@link HttpBounds}
 * bounds connections, requests in progress, bytes held and the time of each phase. An exception of
 * a route is answered with 500. Paths are matched exactly. Thread-safe.
 */
public final class HttpListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);

  /** One line in 10 s: a client may repeat a failing request as fast as it can. */
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  /** Seconds for a request to arrive, against clients that send a byte now and then. */
  static final int REQUEST_SECONDS = 5;

  /** Seconds between two requests; scrapes every 15 s keep their connection. */
  static final int IDLE_SECONDS = 30;

  /** Seconds for a client to read a reply. */
  static final int RESPONSE_SECONDS = 10;

  /** Seconds that answers in progress get at shutdown. */
  private static final int STOP_SECONDS = 1;

  /** Interval between two searches for connections whose deadline passed. */
  private static final int SWEEP_MILLIS = 100;

  /** Connections that the kernel queues while the event loop is busy. */
  private static final int BACKLOG = 256;

  /** Netty's default for the request line; longer ones are answered 414. */
  private static final int MAX_LINE = 4096;

  /** Netty's default for all headers; longer ones are answered 431. */
  private static final int MAX_HEADERS = 8192;

  /** Bytes read at once; with one read per turn it bounds what a connection buffers. */
  private static final int READ_BYTES = 8192;

  /** Socket send buffer; by default the kernel would grow it to megabytes for each slow reader. */
  private static final int KERNEL_BYTES = 128 * 1024;

  private static final WriteBufferWaterMark SEND_BYTES =
      new WriteBufferWaterMark(16 * 1024, 32 * 1024);

  /** A route and its count of requests in progress. */
  private static final class Served {
    private final Route route;
    private int inProgress;

    Served(Route route) {
      this.route = route;
    }
  }

  private final Map<String, Served> routes = new HashMap<>();
  private final OpenConnections connections;
  private final EventLoopGroup loop;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Channel server;
  private final InetSocketAddress address;
  private final AcceptedHosts hosts;
  private final TimeSource time;
  private final LogInterval faults;

  /**
   * Binds the address; nothing is accepted before {@link #start}.
   *
   * @param port 0 for any free port
   * @throws IOException when the address cannot be bound
   */
  HttpListener(String host, int port, HttpBounds bounds, TimeSource time, Map<String, Route> routes)
      throws IOException {
    routes.forEach((path, route) -> this.routes.put(path, new Served(route)));
    this.time = time;
    this.faults = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
    this.connections = new OpenConnections(bounds, time);
    this.loop =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("http-loop", true), NioIoHandler.newFactory());
    boolean bound = false;
    try {
      ChannelFuture binding = bind(new InetSocketAddress(host, port)).awaitUninterruptibly();
      if (!binding.isSuccess()) {
        throw new IOException(String.valueOf(binding.cause().getMessage()), binding.cause());
      }
      this.server = binding.channel();
      this.address = (InetSocketAddress) server.localAddress();
      this.hosts = AcceptedHosts.of(host, address.getAddress());
      bound = true;
    } finally {
      if (!bound) {
        release();
      }
    }
    var _ =
        loop.scheduleWithFixedDelay(
            connections::sweep, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Starts to accept connections. */
  public void start() {
    server.config().setAutoRead(true);
  }

  /** Returns the bound address. */
  public InetSocketAddress address() {
    return address;
  }

  /** Returns the number of open connections. */
  int openConnections() throws InterruptedException, ExecutionException {
    return loop.submit(connections::size).get();
  }

  /** Stops listening, waits up to a second for answers in progress, and closes all connections. */
  @Override
  public void close() {
    CountDownLatch drained = new CountDownLatch(1);
    try {
      server.close().awaitUninterruptibly();
      loop.execute(connections::drain);
      var _ =
          loop.scheduleWithFixedDelay(
              () -> {
                if (connections.isEmpty()) {
                  drained.countDown();
                }
              },
              0,
              10,
              TimeUnit.MILLISECONDS);
      boolean _ = drained.await(STOP_SECONDS, TimeUnit.SECONDS);
      loop.execute(connections::closeAll);
    } catch (RejectedExecutionException closed) {
      LOG.trace("closed before", closed);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    } finally {
      release();
    }
  }

  private void release() {
    threads.shutdownNow();
    boolean _ =
        loop.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS)
            .awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
  }

  /**
   * Binds with buffers on the heap, so that slow readers take none of the direct memory that gRPC
   * uses.
   */
  private ChannelFuture bind(InetSocketAddress where) {
    return new ServerBootstrap()
        .group(loop)
        .channel(NioServerSocketChannel.class)
        .option(ChannelOption.AUTO_READ, false)
        .option(ChannelOption.SO_BACKLOG, BACKLOG)
        .option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.AUTO_READ, false)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childOption(ChannelOption.SO_SNDBUF, KERNEL_BYTES)
        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, SEND_BYTES)
        .childOption(ChannelOption.ALLOCATOR, new UnpooledByteBufAllocator(false, true))
        .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_BYTES))
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                prepare(channel);
              }
            })
        .bind(where);
  }

  private void prepare(Channel channel) {
    channel
        .pipeline()
        .addLast(
            new HttpServerCodec(
                new HttpDecoderConfig()
                    .setMaxInitialLineLength(MAX_LINE)
                    .setMaxHeaderSize(MAX_HEADERS)
                    .setMaxChunkSize(READ_BYTES)))
        .addLast(new FlowControlHandler())
        .addLast(new ChunkedWriteHandler())
        .addLast(new HttpConnection(connections, hosts, this::answer));
  }

  /**
   * Runs a route; called on the event loop, which alone changes the count of requests in progress.
   */
  private void answer(HttpConnection connection, String path, HttpQuery query) {
    Served served = routes.get(path);
    if (served == null) {
      connection.answered(Reply.text(404, "404 page not found\n"));
    } else if (served.route.immediate()) {
      connection.answered(reply(path, served.route, query));
    } else if (served.inProgress >= connections.bounds.requests()) {
      connection.answered(Reply.text(503, "Service Unavailable\n"));
    } else {
      served.inProgress++;
      try {
        threads.execute(() -> answerInBackground(connection, path, served, query));
      } catch (RejectedExecutionException closing) {
        served.inProgress--;
        connection.close();
      }
    }
  }

  private void answerInBackground(
      HttpConnection connection, String path, Served served, HttpQuery query) {
    Reply reply = reply(path, served.route, query);
    try {
      loop.execute(() -> {
        served.inProgress--;
        connection.answered(reply);
      });
    } catch (RejectedExecutionException closed) {
      reply.lost().run();
    }
  }

  private Reply reply(String path, Route route, HttpQuery query) {
    @Nullable Reply reply = null;
    try {
      reply = route.answer(query);
    } catch (Throwable unexpected) {
      if (faults.isDue(time.monotonicNanos())) { // bounded: a client can repeat a failure
        LOG.error("{} failed", path, unexpected);
      }
    }
    return reply != null ? reply : Reply.text(500, "Internal Server Error\n");
  }
}
