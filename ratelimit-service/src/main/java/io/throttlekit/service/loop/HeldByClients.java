package io.throttlekit.service.loop;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds what the clients of a listener can hold in memory: requests that they do not complete,
 * answers that they do not read, and long requests that are being decided. Where it is too much,
 * the connections that hold most for the longest time are closed. Thread-safe.
 *
 * <p>The bound is divided over the event loops, and looked at every 20 ms: until then it may be
 * exceeded by what arrives in that time.
 */
public final class HeldByClients {
  private static final Logger LOG = LoggerFactory.getLogger(HeldByClients.class);
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  /** Of all event loops: a quarter of Netty's memory as bin/throttlekit limits it. */
  private static final long HELD_BYTES = 16 << 20;

  /** One event loop may have that at least, however many there are, and two messages. */
  private static final long MIN_HELD_BYTES = 2 << 20;

  /** Requests that are being decided are on the heap, where there is more room. */
  private static final int DECIDING_FACTOR = 4;

  private final long heldBytes;
  private final TimeSource time;
  private final ConcurrentHashMap<EventLoop, LoopLedger> ledgers = new ConcurrentHashMap<>();
  private final LongAdder cutOff = new LongAdder();
  private final LogInterval warnings;

  /**
   * A bound for a listener.
   *
   * @param eventLoops that serve it, from 1
   * @param messageBytes longest message that it takes
   */
  public HeldByClients(int eventLoops, int messageBytes, TimeSource time) {
    long least = Math.max(MIN_HELD_BYTES, 2L * messageBytes);
    this.heldBytes = Math.max(least, HELD_BYTES / eventLoops);
    this.time = time;
    this.warnings = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
  }

  /** Makes listening channels as {@code channels} does, whose connections are looked at here. */
  public <C extends ServerChannel> ChannelFactory<C> listening(ChannelFactory<C> channels) {
    return () -> {
      C channel = channels.newChannel();
      channel.pipeline().addLast(new Accepting());
      return channel;
    };
  }

  /** Follows the calls of those connections. */
  public ServerStreamTracer.Factory calls() {
    return new Calls();
  }

  /**
   * Registers how many connections were closed.
   *
   * @param prefix of the name of the instrument
   * @return removes the instrument
   */
  public Runnable show(Meter meter, String prefix) {
    return meter
            .counterBuilder(prefix + "cut_off_connections")
            .setDescription("gRPC connections closed because of what their clients held in memory")
            .buildWithCallback(measured -> measured.record(cutOff.sum()))
        ::close;
  }

  LoopLedger ledger(EventLoop loop) {
    return ledgers.computeIfAbsent(loop, each -> new LoopLedger(this, each));
  }

  /** What clients of one event loop may hold. */
  long heldBytes() {
    return heldBytes;
  }

  /** A connection that holds more is closed at the first look: no permitted one has so much. */
  long atOnceBytes() {
    return Math.max(HELD_BYTES, heldBytes);
  }

  /** What the messages may take that are being decided on one event loop. */
  long decidingBytes() {
    return DECIDING_FACTOR * heldBytes;
  }

  /** Notes that a connection is closed whose client holds so many bytes. */
  void cutOff(long bytes) {
    cutOff("held " + (bytes >> 10) + " KiB by incomplete requests or unread answers");
  }

  /** Notes that a connection is closed of which messages of so many bytes are being decided. */
  void cutOffDeciding(long bytes) {
    cutOff("had sent " + (bytes >> 10) + " KiB of requests that were being decided");
  }

  private void cutOff(String why) {
    cutOff.increment();
    if (warnings.isDue(time.monotonicNanos())) {
      LOG.warn("a client that {} was disconnected, {} so far", why, cutOff.sum());
    }
  }

  @Sharable
  private final class Accepting extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof Channel accepted) {
        accepted.pipeline().addFirst(new ClientConnection(HeldByClients.this));
      }
      context.fireChannelRead(message);
    }
  }

  private static final class Calls extends ServerStreamTracer.Factory {
    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
      return Thread.currentThread() instanceof LoopThread loop
          ? loop.begin(headers)
          : new ServerStreamTracer() {};
    }
  }
}
