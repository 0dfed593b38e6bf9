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
 * Connections to a Redis: one on each of several event loops. Thread-safe.
 *
 * @param <L> the sender on each connection
 */
final class Lanes<L extends Lanes.OnLoop> {
  private final Clients clients;
  private final Loops loops;
  private final List<L> lanes = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

  /** The sender on the connection of one event loop. */
  interface OnLoop {

    EventLoop loop();

    /** Begins to connect. */
    void open();

    /** Completes with the first connection. */
    CompletableFuture<?> connected();

    /**
     * Closes the connection when all calls are answered or their deadlines have passed; called on
     * the loop.
     */
    CompletionStage<?> close();
  }

  /** Creates the sender of one connection. */
  @FunctionalInterface
  interface Maker<L> {
    /** Creates an unopened sender, with a connection from {@code links}. */
    L make(EventLoop loop, Lane.LinkMaker links);
  }

  /**
   * Begins to connect.
   *
   * @param group the event loops of a server, not shut down here; absent for a loop of its own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  Lanes(RedisSettings settings, @Nullable EventLoopGroup group, Maker<L> maker) {
    this.clients = new Clients(settings);
    this.loops = group == null ? Loops.own(clients.useUnixSocket()) : Loops.of(group);
    loops.all().forEach(loop -> lanes.add(maker.make(loop, clients::link)));
    // Only now: a connection may be reported before the constructor returns.
    lanes.forEach(OnLoop::open);
  }

  /** Completes when every connection has been opened once; never while Redis is unreachable. */
  CompletionStage<?> ready() {
    return CompletableFuture.allOf(
        lanes.stream().map(OnLoop::connected).toArray(CompletableFuture[]::new));
  }

  boolean isClosed() {
    return closed.get();
  }

  /** Returns the lane of the calling event loop; for any other thread always the same lane. */
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
