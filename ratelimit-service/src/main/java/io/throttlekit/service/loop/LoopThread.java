package io.throttlekit.service.loop;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.throttlekit.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * The thread of one event loop. Knows since when the bytes that it reads at present may have been
 * waiting, so that a request's age includes the time for which the loop was busy with others.
 */
public final class LoopThread extends FastThreadLocalThread {
  // Written and read by this thread only.
  private boolean reading;
  private long arrivedNanos;
  private @Nullable ClientConnection connection;
  private @Nullable HeldCall begun;

  LoopThread(ThreadGroup group, Runnable work, String name) {
    super(group, work, name);
  }

  /**
   * Returns the earliest time at which what the calling thread reads now can have arrived, in
   * monotonic ns of {@code time}: the end of the previous poll of its event loop, or of this one
   * where it had to wait. On any other thread, and outside of reads, it is the present time.
   *
   * @param time the same as that of the event loops
   */
  public static long arrivedNanos(TimeSource time) {
    return Thread.currentThread() instanceof LoopThread loop && loop.reading
        ? loop.arrivedNanos
        : time.monotonicNanos();
  }

  /** Notes that bytes are read from now on that arrived at {@code arrivedNanos} or later. */
  void reads(long arrivedNanos) {
    this.arrivedNanos = arrivedNanos;
    reading = true;
  }

  /** Notes that no more bytes are read in this turn of the loop. */
  void hasRead() {
    reading = false;
  }

  /** Notes whose bytes are read from now on; null for none. */
  void serves(@Nullable ClientConnection reading) {
    connection = reading;
    begun = null;
  }

  /** Begins to follow a call of the connection that is read. */
  ServerStreamTracer begin(Metadata headers) {
    ClientConnection from = connection;
    if (from == null) {
      return new ServerStreamTracer() {};
    }
    HeldCall call = new HeldCall(from, headers);
    from.begun(call);
    begun = call;
    return call;
  }

  /** The call that was begun last for the bytes that are read now. */
  @Nullable HeldCall begun() {
    return begun;
  }
}
