package io.throttlekit.redis;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.store.ExternalStore;
import io.throttlekit.store.StoreListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A store in a Redis. Runs scripts over one connection on each of several event loops. Thread-safe
 * and non-blocking.
 *
 * @param <C> the calls
 */
abstract class ScriptExecutor<C extends Call<?>> implements ExternalStore {
  final TimeSource time;
  private final long leaseDeadlineNanos;
  private final Clients clients;

  /** Those of a server if it is given, so that requests need not change threads. */
  private final EventLoopGroup loops;

  private final boolean ownsLoops;
  private final List<Lane<C>> lanes = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

  /**
   * A Redis and the process that calls it.
   *
   * @param time for deadlines; windows follow Redis's clock
   * @param group the event loops of a server, not shut down here; absent for a loop of its own
   * @param storeClock replaces Redis's clock in tests
   */
  record Setup(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group,
      @Nullable TimeSource storeClock) {}

  /**
   * Begins to connect.
   *
   * @param epochKey the key of an epoch; outside a Cluster there is only one
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  ScriptExecutor(Setup setup, byte[] epochKey, Epochs epochs, RoundTrip.Batching<C> batching) {
    RedisSettings settings = setup.settings;
    this.time = setup.time;
    this.leaseDeadlineNanos = TimeUnit.MILLISECONDS.toNanos(settings.leaseDeadlineMillis());
    Health health = new Health(settings, setup.time, setup.listener);
    Handshake handshake = new Handshake(epochKey, epochs, setup);
    Lane.Shared<C> shared = new Lane.Shared<>(batching, settings, setup.time, handshake, health);
    this.clients = new Clients(settings);
    EventLoopGroup group = setup.group;
    this.ownsLoops = group == null;
    this.loops = group == null ? clients.ownLoop() : group;
    loops.forEach(loop -> lanes.add(new Lane<>((EventLoop) loop, shared, clients::link)));
    // Only now: a connection may be reported before the constructor returns.
    lanes.forEach(Lane::open);
  }

  /** Sends a call, on the connection of the calling event loop if it is one of these. */
  final void submit(C call) {
    if (closed.get()) {
      call.fail(Lane.closed());
    } else {
      lane().submit(call);
    }
  }

  /** Returns the deadline of a lease or a return that is sent now. */
  final long leaseDeadline() {
    return time.monotonicNanos() + leaseDeadlineNanos;
  }

  /** Returns the lane of the calling event loop; for any other thread always the same lane. */
  private Lane<C> lane() {
    Thread caller = Thread.currentThread();
    for (int i = 0; i < lanes.size(); i++) {
      Lane<C> lane = lanes.get(i);
      if (lane.loop.inEventLoop(caller)) {
        return lane;
      }
    }
    return lanes.get((int) (caller.threadId() % lanes.size()));
  }

  @Override
  public final CompletionStage<?> ready() {
    return CompletableFuture.allOf(
        lanes.stream().map(lane -> lane.connected).toArray(CompletableFuture[]::new));
  }

  @Override
  public final void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    List<CompletableFuture<?>> closing = new ArrayList<>();
    for (Lane<C> lane : lanes) {
      try {
        closing.add(
            CompletableFuture.supplyAsync(lane::close, lane.loop)
                .thenCompose(end -> end.thenApply(_ -> true)));
      } catch (RejectedExecutionException _) {
        // The loop has shut down, with its connection.
      }
    }
    var _ =
        CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new))
            .thenRun(() -> {
              ended.complete(null);
              clients.close();
              if (ownsLoops) {
                // No quiet period: there are no calls any more.
                var _ = loops.shutdownGracefully(0, 2, TimeUnit.SECONDS);
              }
            });
  }

  /**
   * {@inheritDoc}
   *
   * <p>The event loops of a server have to run until then.
   */
  @Override
  public final CompletionStage<?> ended() {
    return ended;
  }
}
