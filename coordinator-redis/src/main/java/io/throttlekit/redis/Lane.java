package io.throttlekit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ByteArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.redis.RoundTrip.Traffic;
import io.throttlekit.store.DeadlineWheel;
import io.throttlekit.store.Deadlines;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts in Redis over one connection, from one event loop.
 *
 * <p>Calls that arrive in one turn of the loop, or while a node has its maximum of round trips in
 * flight, may be sent together, as the {@link RoundTrip.Batching} decides. Calls come from any
 * thread; everything else runs on the loop. A call is repeated only if Redis reported that the
 * script did not run.
 *
 * @param <C> the calls
 */
final class Lane<C extends Call<?>> implements Link.Listener {
  /** A connection is renewed this much after its calls expired, so they report their deadline. */
  private static final long EXPIRY_NANOS = 2 * DeadlineWheel.TICK_NANOS;

  private static final String OPENING = "no connection to Redis yet";

  final EventLoop loop;

  /** Completes with the first connection. */
  final CompletableFuture<@Nullable Void> connected = new CompletableFuture<>();

  private final Shared<C> shared;
  private final Link<?> link;
  private final Deadlines<C> deadlines;

  private final Queue<C> arrived = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean gathering = new AtomicBoolean();
  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
  private boolean opened;
  private boolean closing;
  private boolean closed;

  /** Calls that expired in the current sweep. */
  private int late;

  /** The same for calls with the lease deadline. */
  private int lateLeases;

  /**
   * Traffic by node, as named by the link. Each node of a Cluster has its own, so one unresponsive
   * node does not delay calls to the others.
   */
  private final Map<String, Traffic<C>> traffic = new HashMap<>();

  /** Objects that all lanes of a store share. */
  record Shared<C extends Call<?>>(
      RoundTrip.Batching<C> batching,
      RedisSettings settings,
      TimeSource time,
      Handshake handshake,
      Health health) {}

  /**
   * Creates a lane without a connection.
   *
   * @param links creates an unopened link, which notifies the listener on the loop
   */
  Lane(EventLoop loop, Shared<C> shared, BiFunction<EventLoop, Link.Listener, Link<?>> links) {
    this.loop = loop;
    this.shared = shared;
    this.deadlines = new Deadlines<>(shared.time, this::runAfter, this::expire, this::swept);
    this.link = links.apply(loop, this);
  }

  /** Returns the failure of a call after the store was closed. */
  static StoreException closed() {
    return StoreException.notSent("the store is closed");
  }

  /** Begins to connect. Only after construction: a connection may be reported at once. */
  void open() {
    link.open();
  }

  /**
   * Sends a call, which fails at its deadline, or at once while the circuit breaker is open. Until
   * the first attempt to connect has ended, calls wait for it. Called from any thread.
   */
  void submit(C call) {
    if (!shared.health.allows(link.node(call.slot))) {
      call.fail(StoreException.notSent(Health.BREAKER_OPEN));
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
   * has passed: units returned at shutdown are worth something to other processes. Called on the
   * loop.
   */
  CompletionStage<?> close() {
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
    StoreException over = closed();
    for (Traffic<C> each : traffic.values()) { // before ended() reports all as answered
      each.waiting.forEach(call -> call.fail(over));
      each.waiting.clear();
      each.trips.forEach(trip -> trip.fail(over));
    }
    var _ = link.close().whenComplete((_, _) -> ended.complete(null));
  }

  /** Fails the calls that arrived after the end. */
  private void failArrived() {
    for (C call = arrived.poll(); call != null; call = arrived.poll()) {
      call.fail(closed());
    }
  }

  private void gather() {
    gathering.set(false);
    if (closed) {
      failArrived();
    }
    for (C call = arrived.poll(); call != null; call = arrived.poll()) {
      trafficTo(link.node(call.slot)).waiting.add(call);
      deadlines.add(call, call.deadlineNanos);
    }
    traffic.values().forEach(this::pump);
  }

  private Traffic<C> trafficTo(String node) {
    Traffic<C> known = traffic.get(node); // computeIfAbsent would allocate for each call
    if (known == null) {
      known = new Traffic<>(node, shared.time.monotonicNanos());
      traffic.put(node, known);
    }
    return known;
  }

  private void pump(Traffic<C> toNode) {
    if (!opened) {
      return;
    }
    while (toNode.trips.size() < shared.batching.maxInFlight() && !toNode.waiting.isEmpty()) {
      List<C> together = shared.batching.next(toNode.waiting);
      if (!together.isEmpty()) {
        send(together, toNode);
      }
    }
  }

  private void send(List<C> together, Traffic<C> toNode) {
    RoundTrip<C, ?> trip = shared.batching.roundTrip(together, shared.time.monotonicNanos());
    RedisClusterAsyncCommands<byte[], byte[]> commands = link.commands();
    if (commands == null) {
      removeDeadlines(together);
      String why = "no connection to Redis: " + link.failureReason;
      fail(trip, toNode, Failure.CONNECTION, why, StoreException.notSent(why));
      return;
    }
    toNode.trips.add(trip);
    send(trip, toNode, commands, false);
  }

  private <R> void send(
      RoundTrip<C, R> trip,
      Traffic<C> toNode,
      RedisClusterAsyncCommands<byte[], byte[]> commands,
      boolean withText) {
    CompletionStage<R> sent =
        withText
            ? commands.eval(trip.script.text, trip.type, trip.keys, trip.arguments)
            : commands.evalsha(trip.script.sha, trip.type, trip.keys, trip.arguments);
    sent.whenComplete((reply, failure) -> {
      if (loop.inEventLoop()) {
        // Lettuce may complete a command on another thread, e.g. when it rejects it.
        landed(trip, toNode, reply, failure, withText);
      } else {
        loop.execute(() -> landed(trip, toNode, reply, failure, withText));
      }
    });
  }

  private <R> void landed(
      RoundTrip<C, R> trip,
      Traffic<C> toNode,
      @Nullable R reply,
      @Nullable Throwable failure,
      boolean withText) {
    String error = failure == null ? "" : String.valueOf(failure.getMessage());
    RedisClusterAsyncCommands<byte[], byte[]> commands = link.commands();
    if (error.startsWith("NOSCRIPT") && !withText && commands != null) {
      // The script did not run. The trip keeps its place, so order and in-flight bound hold.
      send(trip, toNode, commands, true);
      return;
    }
    toNode.trips.remove(trip);
    removeDeadlines(trip.calls);
    if (failure == null) {
      long nanos = shared.time.monotonicNanos() - trip.sentNanos;
      shared.health.answered(toNode.node, trip.calls.size(), nanos);
      complete(trip, reply);
    } else {
      // An error that is not Redis's own is one of the connection.
      boolean isErrorReply = failure instanceof RedisCommandExecutionException;
      if (refusesWrites(error) || (shared.settings.cluster() && !isErrorReply)) {
        link.renew(); // the node is no longer the master, or its slots have moved
      }
      String cause = "Redis: " + error;
      Failure kind = isErrorReply ? Failure.ERROR : Failure.CONNECTION;
      fail(trip, toNode, kind, cause, new StoreException(cause, failure));
    }
    // The round trip made room for waiting calls.
    pump(toNode);
    endWhenIdle();
  }

  /** Completes the calls of a round trip, or fails them if the reply is not one of its script. */
  private <R> void complete(RoundTrip<C, R> trip, @Nullable R reply) {
    try {
      trip.complete(Objects.requireNonNull(reply, "nil"));
    } catch (RuntimeException e) { // must not keep the loop from sending the waiting calls
      String cause = "unexpected reply from Redis: " + (reply == null ? "nil" : e);
      shared.health.failed(trip.fail(new StoreException(cause, e)), Failure.ERROR, cause);
    }
  }

  /**
   * Returns whether Redis rejects writes: it is a replica, or has fewer replicas than it requires.
   */
  private static boolean refusesWrites(String error) {
    return error.contains("READONLY") || error.contains("NOREPLICAS");
  }

  private void fail(
      RoundTrip<C, ?> trip, Traffic<C> toNode, Failure kind, String cause, StoreException failure) {
    shared.health.failed(trip.fail(failure), kind, cause);
    // Once for all round trips that were in flight: a lost connection fails every one of them.
    if (trip.sentNanos - toNode.refusedNanos > 0) {
      toNode.refusedNanos = shared.time.monotonicNanos();
      shared.health.refused(toNode.node);
    }
  }

  private void removeDeadlines(List<C> calls) {
    for (int i = 0; i < calls.size(); i++) {
      deadlines.remove(calls.get(i));
    }
  }

  private void runAfter(long nanos, Runnable task) {
    var _ = loop.schedule(task, nanos, TimeUnit.NANOSECONDS);
  }

  private void expire(C call) {
    StoreException failure = opened ? shared.health.late(call) : StoreException.notSent(OPENING);
    if (call.answer.completeExceptionally(failure)) {
      late += call.hasLeaseDeadline ? 0 : 1;
      lateLeases += call.hasLeaseDeadline ? 1 : 0;
    }
  }

  /**
   * Reports late calls, and the oldest unanswered round trip of each node, which the breakers time.
   */
  private void swept(long now) {
    shared.health.late(late, lateLeases);
    late = 0;
    lateLeases = 0;
    long silence =
        TimeUnit.MILLISECONDS.toNanos(shared.settings.leaseDeadlineMillis()) + EXPIRY_NANOS;
    boolean inFlight = false;
    boolean silent = false;
    for (Traffic<C> each : traffic.values()) {
      // Calls that timed out before they were sent must not hold memory.
      each.waiting.removeIf(Call::isExpired);
      RoundTrip<C, ?> oldest = each.trips.peek();
      if (oldest != null) {
        inFlight = true;
        silent |= now - oldest.sentNanos > silence;
        shared.health.unanswered(each.node, oldest.sentNanos);
      }
    }
    traffic.values().removeIf(this::hasLeft);
    if (silent) {
      link.renew();
    }
    if (inFlight) { // its calls may have expired, so that none has a deadline
      deadlines.sweepAgain();
    }
  }

  /** Returns whether a node has left the Cluster, and forgets its circuit breaker then. */
  private boolean hasLeft(Traffic<C> toNode) {
    boolean left = toNode.isIdle() && !link.hasNode(toNode.node);
    if (left) {
      shared.health.forget(toNode.node);
    }
    return left;
  }

  @Override
  public CompletionStage<?> connecting(RedisClusterAsyncCommands<byte[], byte[]> commands) {
    return shared.handshake.over(commands);
  }

  /** Sends or fails the calls that waited for the first attempt to connect. */
  private void opened() {
    if (opened) {
      return;
    }
    opened = true;
    Traffic<C> early = traffic.remove(""); // the name before the nodes of a Cluster are known
    if (early != null) {
      early.waiting.forEach(call -> trafficTo(link.node(call.slot)).waiting.add(call));
    }
    traffic.values().forEach(this::pump);
    endWhenIdle();
  }

  /** Loads the scripts, before any other command. */
  @Override
  public void connected() {
    RedisClusterAsyncCommands<byte[], byte[]> commands = link.commands();
    if (commands == null) {
      return;
    }
    CompletableFuture<?>[] loads =
        shared.batching.scripts().stream()
            .map(script -> load(script, commands))
            .toArray(CompletableFuture[]::new);
    var _ =
        CompletableFuture.allOf(loads)
            .whenComplete((_, failure) -> {
              if (failure == null) {
                shared.health.connectionAnswered();
              }
              // Even after an error: a script that is not loaded is sent with its text.
              connected.complete(null);
            });
    shared.health.listener.connected();
    opened();
  }

  @Override
  public void disconnected() {
    shared.health.listener.disconnected();
  }

  private static CompletableFuture<?> load(
      Script script, RedisClusterAsyncCommands<byte[], byte[]> commands) {
    return commands
        .dispatch(
            CommandType.SCRIPT,
            new ByteArrayOutput<>(ByteArrayCodec.INSTANCE),
            new CommandArgs<>(ByteArrayCodec.INSTANCE).add("LOAD").add(script.text))
        .toCompletableFuture();
  }

  @Override
  public void notConnected(String failureReason) {
    shared.health.listener.notConnected(failureReason);
    opened();
  }
}
