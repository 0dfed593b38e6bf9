package io.throttlekit.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The event loops of a store: its own, or those of the calling server, so that requests need not
 * change threads.
 */
final class Loops {
  private final EventLoopGroup group;
  private final boolean own;

  private Loops(EventLoopGroup group, boolean own) {
    this.group = group;
    this.own = own;
  }

  /** Creates one loop, owned by the store. */
  static Loops own(boolean unixSocket) {
    Class<? extends EventLoopGroup> type =
        unixSocket
            ? Transports.NativeTransports.eventLoopGroupClass(true)
            : Transports.eventLoopGroupClass();
    return new Loops(new DefaultEventLoopGroupProvider(1).allocate(type), true);
  }

  /** Returns the loops of a server, which are not shut down here. */
  static Loops of(EventLoopGroup group) {
    return new Loops(group, false);
  }

  List<EventLoop> all() {
    List<EventLoop> loops = new ArrayList<>();
    for (EventExecutor each : group) {
      loops.add((EventLoop) each);
    }
    return loops;
  }

  void close() {
    if (own) {
      var _ = group.shutdownGracefully(0, 2, TimeUnit.SECONDS);
    }
  }

  /** Restricts a client to one loop and no other thread. */
  static EventLoopGroupProvider only(EventLoop loop) {
    return new Only(loop);
  }

  /** Fails a stage that is not complete in time, with {@code why} as its message. */
  static void limit(EventLoop loop, CompletableFuture<?> stage, Duration time, String why) {
    ScheduledFuture<?> limit =
        loop.schedule(
            () -> stage.completeExceptionally(new RedisException(why)),
            time.toMillis(),
            TimeUnit.MILLISECONDS);
    var _ = stage.whenComplete((_, _) -> limit.cancel(false));
  }

  private record Only(EventLoop loop) implements EventLoopGroupProvider {

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
      return (T) loop; // the requested type only names the transport
    }

    @Override
    public int threadPoolSize() {
      return 1;
    }

    @Override
    public Future<Boolean> release(
        EventExecutorGroup group, long quietPeriod, long timeout, TimeUnit unit) {
      return shutdown(quietPeriod, timeout, unit);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
      // The loop is not the client's to shut down.
      return ImmediateEventExecutor.INSTANCE.newSucceededFuture(true);
    }
  }
}
