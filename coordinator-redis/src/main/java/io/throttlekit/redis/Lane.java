package io.throttlekit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ByteArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Sends calls to Redis over one connection, from one event loop, in batches.
 *
 * <p>Calls that arrive in one turn of the loop, or while the connection has its maximum of round
 * trips in flight, are sent together. Calls come from any thread; everything else runs on the loop.
 * A call is repeated only if Redis reported that the script did not run.
 */
final class Lane implements Lanes.OnLoop {
  /** More round trips in flight in a Cluster, where a batch only holds calls of one hash slot. */
  private static final int IN_FLIGHT_FACTOR_OF_CLUSTER = 16;

  /** A connection is renewed this much after its calls expired, so they report their deadline. */
  private static final long EXPIRY_NANOS = 2 * DeadlineWheel.TICK_NANOS;

  private final EventLoop loop;
  private final CompletableFuture<@Nullable Void> connected = new CompletableFuture<>();
  private final Shared shared;
  private final Link link;
  private final int maxInFlight;
  private final Deadlines deadlines;

  private final Queue<Call<?>> arrived = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean gathering = new AtomicBoolean();
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
  private boolean closing;
  private boolean closed;

  /** Traffic by node, as named by the link. */
  private final Map<String, Traffic> traffic = new HashMap<>();

  /** Objects that all lanes of a store share. */
  record Shared(
      RedisSettings settings,
      TimeSource time,
      Script script,
      Slots slots,
      Epochs epochs,
      Handshake handshake,
      Health health,
      @Nullable TimeSource storeClock) {}

  Lane(EventLoop loop, Shared shared, LinkMaker links) {
    this.loop = loop;
    this.shared = shared;
    boolean cluster = shared.slots.isCluster();
    this.maxInFlight = shared.settings.maxInFlight() * (cluster ? IN_FLIGHT_FACTOR_OF_CLUSTER : 1);
    this.deadlines = new Deadlines(loop, shared.time, this::swept);
    this.link = links.make(loop, new LinkListener());
  }

  @Override
  public EventLoop loop() {
    return loop;
  }

  /** Begins to connect. Only after construction: a connection may be reported at once. */
  @Override
  public void open() {
    link.open();
  }

  @Override
  public CompletableFuture<?> connected() {
    return connected;
  }

  /** Creates the connection of a lane. */
  @FunctionalInterface
  interface LinkMaker {
    /** Creates an unopened link, which notifies {@code listener} on the loop. */
    Link make(EventLoop loop, Link.Listener listener);
  }

  /**
   * Sends a call, which fails at its deadline, or at once while the circuit breaker is open. Called
   * from any thread.
   */
  void submit(Call<?> call) {
    if (!shared.health.allows(link.node(call.slot))) {
      call.fail(StoreException.notSent(Health.NOT_ASKED));
      return;
    }
    arrived.add(call);
    if (gathering.compareAndSet(false, true)) { // one task for all calls until it runs
      try {
        loop.execute(this::gather);
      } catch (RejectedExecutionException _) { // the loop has shut down
        gathering.set(false);
        failArrived();
      }
    }
  }

  /**
   * Sends the waiting calls, and closes the connection when all are answered or the lease deadline
   * has passed: units returned at shutdown are worth something to other processes.
   */
  @Override
  public CompletionStage<?> close() {
    gather();
    var _ = loop.schedule(this::end, shared.settings.leaseDeadlineMillis(), TimeUnit.MILLISECONDS);
    closing = true;
    endWhenIdle();
    return ended;
  }

  private void endWhenIdle() {
    if (closing && traffic.values().stream().allMatch(Traffic::isIdle)) {
      end();
    }
  }

  private void end() {
    if (closed) {
      return;
    }
    closed = true;
    failArrived();
    StoreException over = Failures.closed();
    traffic.values().forEach(each -> each.failAll(over)); // before ended() reports all as answered
    var _ = link.close().whenComplete((_, _) -> ended.complete(null));
  }

  /** Fails the calls that arrived after the end. */
  private void failArrived() {
    for (Call<?> call = arrived.poll(); call != null; call = arrived.poll()) {
      call.fail(Failures.closed());
    }
  }

  private void gather() {
    gathering.set(false);
    for (Call<?> call = arrived.poll(); call != null; call = arrived.poll()) {
      traffic.computeIfAbsent(link.node(call.slot), Traffic::new).add(call);
      deadlines.add(call);
    }
    traffic.values().forEach(this::pump);
  }

  private void pump(Traffic toOne) {
    while (toOne.flights.size() < maxInFlight && toOne.hasWaiting()) {
      List<Call<?>> together = toOne.next(shared.settings.maxBatch());
      if (!together.isEmpty()) {
        send(together, toOne);
      }
    }
  }

  private void send(List<Call<?>> together, Traffic toOne) {
    Flight flight = new Flight(together, shared.slots, shared.epochs, shared.time.monotonicNanos());
    BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
    if (commands == null) {
      deadlines.remove(together);
      String why = "no connection to Redis: " + link.whyNot();
      fail(flight, toOne, Failure.CONNECTION, why, StoreException.notSent(why));
      return;
    }
    toOne.flights.add(flight);
    send(flight, toOne, commands, false);
  }

  private void send(
      Flight flight,
      Traffic toOne,
      BaseRedisAsyncCommands<byte[], byte[]> commands,
      boolean withText) {
    Script script = shared.script;
    CommandArgs<byte[], byte[]> arguments =
        new CommandArgs<>(ByteArrayCodec.INSTANCE)
            .add(withText ? script.text() : script.sha())
            .add(flight.keys.length)
            .addKeys(flight.keys)
            .add(flight.knownEpoch.getBytes(StandardCharsets.US_ASCII))
            .add(flight.packed);
    TimeSource storeClock = shared.storeClock;
    if (storeClock != null) {
      arguments.add(storeClock.wallMillis());
    }
    RedisFuture<byte[]> reply =
        commands.dispatch(
            withText ? CommandType.EVAL : CommandType.EVALSHA,
            new ByteArrayOutput<>(ByteArrayCodec.INSTANCE),
            arguments);
    reply.whenComplete((bytes, failure) -> {
      if (loop.inEventLoop()) {
        // Lettuce may complete a command on another thread, e.g. when it rejects it.
        landed(flight, toOne, bytes, failure, withText);
      } else {
        loop.execute(() -> landed(flight, toOne, bytes, failure, withText));
      }
    });
  }

  private void landed(
      Flight flight,
      Traffic toOne,
      byte @Nullable [] reply,
      @Nullable Throwable failure,
      boolean withText) {
    String error = failure == null ? "" : String.valueOf(failure.getMessage());
    BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
    if (error.startsWith("NOSCRIPT") && !withText && commands != null) {
      send(flight, toOne, commands, true); // NOSCRIPT: the script did not run
      return;
    }
    toOne.flights.remove(flight);
    deadlines.remove(flight.calls());
    if (reply != null) {
      long nanos = shared.time.monotonicNanos() - flight.sentNanos;
      shared.health.answered(toOne.node, flight.size(), nanos);
      flight.land(reply, shared.epochs);
    } else {
      boolean told = failure instanceof RedisCommandExecutionException; // an error reply
      // An error that is not Redis's own is one of the connection.
      if (Failures.refusesWrites(error) || (shared.slots.isCluster() && !told)) {
        link.renew(); // the node is no longer the master, or its slots have moved
      }
      String inWords = "Redis: " + error;
      Failure why = told ? Failure.ERROR : Failure.CONNECTION;
      fail(flight, toOne, why, inWords, new StoreException(inWords, failure));
    }
    // The round trip made room for waiting calls.
    pump(toOne);
    endWhenIdle();
  }

  private void fail(
      Flight flight, Traffic toOne, Failure why, String inWords, StoreException failure) {
    shared.health.failed(flight.fail(failure), why, inWords);
    shared.health.refused(toOne.node);
  }

  /**
   * Reports late calls, and the oldest unanswered round trip of each node, which the breakers time.
   */
  private void swept(int late, int lateLeases, long now) {
    shared.health.failed(late, Failure.DEADLINE, Failures.LATE);
    shared.health.failed(lateLeases, Failure.LEASE_DEADLINE, Failures.LATE);
    boolean stuck = false;
    for (Traffic each : traffic.values()) {
      // Calls that timed out before they were sent must not hold memory.
      each.forgetAnswered();
      Flight oldest = each.flights.peek();
      if (oldest != null) {
        stuck |= now - oldest.sentNanos > leaseNanos() + EXPIRY_NANOS;
        shared.health.unanswered(each.node, oldest.sentNanos);
      }
    }
    if (stuck) {
      link.renew();
    }
  }

  private final class LinkListener implements Link.Listener {

    @Override
    public CompletionStage<?> connecting(BaseRedisAsyncCommands<byte[], byte[]> commands) {
      return shared.handshake.over(commands);
    }

    /** Loads the script, before any other command. */
    @Override
    public void connected() {
      BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
      if (commands == null) {
        return;
      }
      commands
          .dispatch(
              CommandType.SCRIPT,
              new ByteArrayOutput<>(ByteArrayCodec.INSTANCE),
              new CommandArgs<>(ByteArrayCodec.INSTANCE).add("LOAD").add(shared.script.text()))
          .whenComplete((_, failure) -> {
            if (failure == null) {
              shared.health.greeted();
            }
            // Even after an error: a script that is not loaded is sent with its text.
            connected.complete(null);
          });
      shared.health.connected();
    }

    @Override
    public void notConnected(String failureReason) {
      shared.health.notConnected(failureReason);
    }
  }

  private long leaseNanos() {
    return TimeUnit.MILLISECONDS.toNanos(shared.settings.leaseDeadlineMillis());
  }
}
