package io.throttlekit.service.loop;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.netty.channel.EventLoop;
import io.netty.util.internal.PlatformDependent;
import io.throttlekit.TimeSource;
import io.throttlekit.service.loop.ClosedConnections.Reason;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Limits the memory that clients of a listener can hold: incomplete requests, unread answers, and
 * long requests that are being decided. Above the limit, the connections that have held the most
 * for the longest time are closed. Thread-safe.
 *
 * <p>The limit is divided between the event loops and checked every 20 ms; data that arrives in
 * between may exceed it.
 */
public final class HeldByClients {
  /** For all event loops: a quarter of Netty's memory, at most that of 64 MiB. */
  private static final long HELD_BYTES = heldBytes(PlatformDependent.maxDirectMemory());

  /** Minimum for one event loop, however many there are; at least two messages fit as well. */
  private static final long MIN_HELD_BYTES = 2 << 20;

  /** Requests that are being decided are on the heap, which has more room. */
  private static final int DECIDING_FACTOR = 4;

  private final long heldBytes;
  final TimeSource time;
  private final ConcurrentHashMap<EventLoop, LoopLedger> ledgers = new ConcurrentHashMap<>();
  private final ClosedConnections closed;

  /**
   * Creates a limit for a listener.
   *
   * @param eventLoops number of event loops that serve it, from 1
   * @param messageBytes longest message that it accepts
   * @param closed counts the connections that are closed
   */
  public HeldByClients(
      int eventLoops, int messageBytes, TimeSource time, ClosedConnections closed) {
    long least = Math.max(MIN_HELD_BYTES, 2L * messageBytes);
    this.heldBytes = Math.max(least, HELD_BYTES / eventLoops);
    this.time = time;
    this.closed = closed;
  }

  static long heldBytes(long directBytes) {
    long most = 16 << 20;
    return directBytes <= 0 ? most : Math.min(most, directBytes / 4);
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

  /** Returns how many calls of its methods were read and are not yet answered, without streams. */
  public long callsInProgress() {
    return ledgers.values().stream().mapToLong(LoopLedger::callsInProgress).sum();
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
    closed.count(
        Reason.MEMORY, "held " + (bytes >> 10) + " KiB by incomplete requests or unread answers");
  }

  /** Counts and logs that a connection is closed for {@code bytes} of messages being decided. */
  void closingDeciding(long bytes) {
    closed.count(
        Reason.MEMORY, "had sent " + (bytes >> 10) + " KiB of requests that were being decided");
  }
}
