package io.throttlekit.service.loop;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The I/O of one event loop, which records in its {@link LoopThread} when the bytes it reads can
 * have arrived. Reads the clock twice per iteration, and not for each request.
 *
 * <p>Bytes present when a poll starts arrived after the end of the previous poll, at any time while
 * the loop was busy. A poll that had to wait was ended by their arrival; further delay of the
 * thread by scheduling or garbage collection is not measured.
 */
final class TimedPolls implements IoHandler, IoHandlerContext {
  /** A poll that finds events takes a few µs; one that slept takes longer to be scheduled again. */
  private static final long WAITED_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

  private final IoHandler handler;
  private final TimeSource time;
  private @Nullable IoHandlerContext context;
  private long pollBeganNanos;
  private long lastPollEndedNanos;
  private boolean polledBefore;

  private TimedPolls(IoHandler handler, TimeSource time) {
    this.handler = handler;
    this.time = time;
  }

  /** Returns a factory of such handlers, for loops whose threads are {@link LoopThread}s. */
  static IoHandlerFactory of(IoHandlerFactory factory, TimeSource time) {
    return new IoHandlerFactory() {
      @Override
      public IoHandler newHandler(ThreadAwareExecutor executor) {
        return new TimedPolls(factory.newHandler(executor), time);
      }

      @Override
      public boolean isChangingThreadSupported() {
        return factory.isChangingThreadSupported();
      }
    };
  }

  @Override
  public int run(IoHandlerContext context) {
    this.context = context;
    pollBeganNanos = time.monotonicNanos();
    // the first poll has no previous one
    if (!polledBefore) {
      polledBefore = true;
      lastPollEndedNanos = pollBeganNanos;
    }
    try {
      return handler.run(this);
    } finally {
      if (Thread.currentThread() instanceof LoopThread thread) {
        thread.hasRead();
      }
    }
  }

  /** Called by Netty's handlers after each poll, before its events are processed. */
  @Override
  public boolean shouldReportActiveIoTime() {
    long now = time.monotonicNanos();
    if (Thread.currentThread() instanceof LoopThread thread) {
      boolean waited = now - pollBeganNanos >= WAITED_NANOS;
      thread.reads(waited ? now : lastPollEndedNanos);
    }
    lastPollEndedNanos = now;
    return context().shouldReportActiveIoTime();
  }

  @Override
  public boolean canBlock() {
    return context().canBlock();
  }

  @Override
  public long delayNanos(long currentTimeNanos) {
    return context().delayNanos(currentTimeNanos);
  }

  @Override
  public long deadlineNanos() {
    return context().deadlineNanos();
  }

  @Override
  public void reportActiveIoTime(long activeNanos) {
    context().reportActiveIoTime(activeNanos);
  }

  private IoHandlerContext context() {
    IoHandlerContext current = context;
    if (current == null) {
      throw new IllegalStateException("not within run");
    }
    return current;
  }

  @Override
  public void initialize() {
    handler.initialize();
  }

  @Override
  public void prepareToDestroy() {
    handler.prepareToDestroy();
  }

  @Override
  public void destroy() {
    handler.destroy();
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    return handler.register(handle);
  }

  @Override
  public void wakeup() {
    handler.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return handler.isCompatible(handleType);
  }
}
