package io.throttlekit.redis;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Connections to a Redis: one on each of some event loops. Thread-safe.
 *
 * @param <L> what sends over each of them
 */
final class Lanes<L extends Lanes.OnLoop> {
  private final Clients clients;
  private final Loops loops;
  private final List<L> lanes = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

  /** What sends over the connection of one event loop. */
  interface OnLoop {

    EventLoop loop();

    /** Begins to connect. */
    void open();

    /** Completes with the first connection. */
    CompletableFuture<?> connected();

    /**
     * Closes the connection when what was asked is answered, or nobody waits for it; on the loop.
     */
    CompletionStage<?> close();
  }

  /** Makes what sends over one connection. */
  @FunctionalInterface
  interface Maker<L> {
    /** One that is not open, with a connection that {@code links} makes. */
    L make(EventLoop loop, Lane.LinkMaker links);
  }

  /**
   * Begins to connect.
   *
   * @param group loops of someone else, who ends them; absent for one of its own
   * @throws IllegalArgumentException when the URL is none of Redis, or a file of TLS is not good
   */
  Lanes(RedisSettings settings, @Nullable EventLoopGroup group, Maker<L> maker) {
    this.clients = new Clients(settings);
    this.loops = group == null ? Loops.own(clients.useUnixSocket()) : Loops.of(group);
    loops.all().forEach(loop -> lanes.add(maker.make(loop, clients::link)));
    lanes.forEach(OnLoop::open);
  }

  /** Completes when all connections have been made once; never while there is no Redis. */
  CompletionStage<?> ready() {
    return CompletableFuture.allOf(
        lanes.stream().map(OnLoop::connected).toArray(CompletableFuture[]::new));
  }

  boolean isClosed() {
    return closed.get();
  }

  /** The one of the calling event loop, or always the same of a thread. */
  L mine() {
    Thread caller = Thread.currentThread();
    for (int i = 0; i < lanes.size(); i++) {
      L lane = lanes.get(i);
      if (lane.loop().inEventLoop(caller)) {
        return lane;
      }
    }
    return lanes.get((int) (caller.threadId() % lanes.size()));
  }

  void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    List<CompletableFuture<?>> closing = new ArrayList<>();
    for (L lane : lanes) {
      CompletableFuture<?> closed = new CompletableFuture<>();
      closing.add(closed);
      lane.loop().execute(() -> lane.close().whenComplete((_, _) -> closed.complete(null)));
    }
    var _ =
        CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new))
            .thenRun(() -> {
              ended.complete(null);
              clients.close();
              loops.close();
            });
  }

  /** Completes after {@link #close} when all connections are closed. */
  CompletionStage<?> ended() {
    return ended;
  }
}
