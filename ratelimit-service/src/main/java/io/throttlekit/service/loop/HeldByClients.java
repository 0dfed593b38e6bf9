package io.throttlekit.service.loop;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the memory that clients of a listener can hold: incomplete requests, unread answers, and
 * long requests that are being decided. Above the limit, the connections that have held the most
 * for the longest time are closed. Thread-safe.
 *
 * <p>The limit is divided between the event loops and checked every 20 ms; data that arrives in
 * between may exceed it.
 */
public final class HeldByClients {
  private static final Logger LOG = LoggerFactory.getLogger(HeldByClients.class);
  // a client could cause thousands of lines a second
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  /** For all event loops: a quarter of Netty's memory as bin/throttlekit limits it. */
  private static final long HELD_BYTES = 16 << 20;

  /** Minimum for one event loop, however many there are; at least two messages fit as well. */
  private static final long MIN_HELD_BYTES = 2 << 20;

  /** Requests that are being decided are on the heap, which has more room. */
  private static final int DECIDING_FACTOR = 4;

  private final long heldBytes;
  final TimeSource time;
  private final ConcurrentHashMap<EventLoop, LoopLedger> ledgers = new ConcurrentHashMap<>();
  private final LongAdder closed = new LongAdder();
  private final LogInterval warnings;

  /**
   * Creates a limit for a listener.
   *
   * @param eventLoops number of event loops that serve it, from 1
   * @param messageBytes longest message that it accepts
   */
  public HeldByClients(int eventLoops, int messageBytes, TimeSource time) {
    long least = Math.max(MIN_HELD_BYTES, 2L * messageBytes);
    this.heldBytes = Math.max(least, HELD_BYTES / eventLoops);
    this.time = time;
    this.warnings = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
  }

  /** Returns the factory of tracers for the calls of the connections. */
  public ServerStreamTracer.Factory calls() {
    return new ServerStreamTracer.Factory() {
      @Override
      public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        return Thread.currentThread() instanceof LoopThread loop
            ? loop.begin(headers)
            : new ServerStreamTracer() {};
      }
    };
  }

  /** Returns how many connections were closed because of what their clients held. */
  public long closed() {
    return closed.sum();
  }

  /**
   * Returns the number of calls that are open and would end without their clients. Waits for the
   * event loops; a call is assumed on each that does not report within a second.
   */
  public long openCalls() throws InterruptedException {
    List<Future<Long>> reports = new ArrayList<>();
    ledgers.forEach((loop, ledger) -> reports.add(loop.submit(ledger::openCalls)));
    long open = 0;
    for (Future<Long> report : reports) {
      try {
        open += report.get(1, TimeUnit.SECONDS);
      } catch (TimeoutException | ExecutionException e) {
        open++;
      }
    }
    return open;
  }

  LoopLedger ledger(EventLoop loop) {
    return ledgers.computeIfAbsent(loop, each -> new LoopLedger(this, each));
  }

  /** Returns the bytes that the clients of one event loop may hold. */
  long heldBytes() {
    return heldBytes;
  }

  /**
   * Returns the bytes above which a connection is closed at the first check: a permitted one never
   * holds as many.
   */
  long atOnceBytes() {
    return Math.max(HELD_BYTES, heldBytes);
  }

  /** Returns the bytes of messages that may be decided at a time on one event loop. */
  long decidingBytes() {
    return DECIDING_FACTOR * heldBytes;
  }

  /** Counts and logs that a connection is closed whose client holds {@code bytes}. */
  void closing(long bytes) {
    closing("held " + (bytes >> 10) + " KiB by incomplete requests or unread answers");
  }

  /** Counts and logs that a connection is closed for {@code bytes} of messages being decided. */
  void closingDeciding(long bytes) {
    closing("had sent " + (bytes >> 10) + " KiB of requests that were being decided");
  }

  private void closing(String why) {
    closed.increment();
    if (warnings.isDue(time.monotonicNanos())) {
      LOG.warn("a client that {} was disconnected, {} so far", why, closed.sum());
    }
  }
}
