package io.throttlekit.service.loop;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.throttlekit.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * The thread of one event loop. Records the earliest possible arrival of the bytes that it is
 * reading, so that a request's age includes the time in which the loop was busy with others.
 */
public final class LoopThread extends FastThreadLocalThread {
  // Used by this thread only.
  private boolean reading;
  private long arrivedNanos;
  private @Nullable ClientConnection connection;

  /** The call started last for the bytes that are being read. */
  @Nullable HeldCall begun;

  private LoopThread(ThreadGroup group, Runnable work, String name) {
    super(group, work, name);
  }

  /**
   * Returns event loops with daemon threads of this type, which the caller has to shut down.
   *
   * @param count number of threads, from 1
   * @param name prefix of their names
   * @param transport how they poll
   * @param time clock for the ages of requests
   */
  public static EventLoopGroup loops(
      int count, String name, IoHandlerFactory transport, TimeSource time) {
    DefaultThreadFactory threads =
        new DefaultThreadFactory(name, true) {
          @Override
          protected Thread newThread(Runnable work, String name) {
            return new LoopThread(threadGroup, work, name);
          }
        };
    return new MultiThreadIoEventLoopGroup(count, threads, TimedPolls.of(transport, time));
  }

  /**
   * Returns the earliest time at which the bytes being read by the calling thread can have arrived,
   * in monotonic ns of {@code time}: the end of the previous poll of its event loop, or of this
   * poll if it had to wait. On any other thread, and outside of reads, returns the current time.
   *
   * @param time the same as that of the event loops
   */
  public static long arrivedNanos(TimeSource time) {
    return Thread.currentThread() instanceof LoopThread loop && loop.reading
        ? loop.arrivedNanos
        : time.monotonicNanos();
  }

  /**
   * Returns the connection that the calling thread is reading, or {@code none}. Connections have
   * the identity of objects.
   */
  public static Object connection(Object none) {
    return Thread.currentThread() instanceof LoopThread loop && loop.connection != null
        ? loop.connection
        : none;
  }

  /** Starts a read of bytes that arrived at {@code arrivedNanos} or later. */
  void reads(long arrivedNanos) {
    this.arrivedNanos = arrivedNanos;
    reading = true;
  }

  /** Ends the reads of this iteration of the loop. */
  void hasRead() {
    reading = false;
  }

  /** Sets the connection that is being read, or null for none. */
  void serves(@Nullable ClientConnection reading) {
    connection = reading;
    begun = null;
  }

  /** Starts to follow a call of the connection that is being read. */
  ServerStreamTracer begin(Metadata headers) {
    ClientConnection from = connection;
    if (from == null) {
      return new ServerStreamTracer() {};
    }
    HeldCall call = new HeldCall(from, headers, arrivedNanos(from.time()));
    from.begun(call);
    begun = call;
    return call;
  }
}
