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
 * Sends calls to Redis over one connection, from one event loop, several at a time.
 *
 * <p>What arrives on one turn of the loop, or while the connection has all the round trips under
 * way that it may have, goes together. Calls come from any thread; everything else happens on the
 * loop. Nothing is sent twice unless Redis said that it did not run it.
 */
final class Lane implements Lanes.OnLoop {
  private static final int IN_FLIGHT_FACTOR_OF_CLUSTER = 16;

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

  /** By the Redis that it is to, as the link names it. */
  private final Map<String, Traffic> traffic = new HashMap<>();

  /** What all lanes of a store have in common. */
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

  /** Begins to connect. Not before the lane is whole: a connection may be there at once. */
  @Override
  public void open() {
    link.open();
  }

  @Override
  public CompletableFuture<?> connected() {
    return connected;
  }

  /** Makes the connection of a lane. */
  @FunctionalInterface
  interface LinkMaker {
    /** Makes one that is not open; it tells {@code listener} on the loop of each connection. */
    Link make(EventLoop loop, Link.Listener listener);
  }

  /**
   * Sends a call, and fails it when its time is up, or at once while Redis does not answer; from
   * any thread.
   */
  void submit(Call<?> call) {
    if (!shared.health.allows(link.node(call.slot))) {
      call.fail(StoreException.notSent(Health.NOT_ASKED));
      return;
    }
    arrived.add(call);
    if (gathering.compareAndSet(false, true)) {
      try {
        loop.execute(this::gather);
      } catch (RejectedExecutionException _) {
        gathering.set(false);
        failArrived();
      }
    }
  }

  /**
   * Sends what is waiting, and closes the connection when all of it is answered, or has taken as
   * long as a lease may: what comes back at the end is worth something to others.
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
    traffic
        .values()
        .forEach(each -> each.failAll(over)); // before ended() says that all are answered
    var _ = link.close().whenComplete((_, _) -> ended.complete(null));
  }

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
      send(flight, toOne, commands, true); // it did not run
      return;
    }
    toOne.flights.remove(flight);
    deadlines.remove(flight.calls());
    if (reply != null) {
      long nanos = shared.time.monotonicNanos() - flight.sentNanos;
      shared.health.answered(toOne.node, flight.size(), nanos);
      flight.land(reply, shared.epochs);
    } else {
      boolean told = failure instanceof RedisCommandExecutionException;
      if (Failures.refusesWrites(error) || (shared.slots.isCluster() && !told)) {
        link.renew(); // it is no longer the master, or others have its slots now
      }
      String inWords = "Redis: " + error;
      Failure why = told ? Failure.ERROR : Failure.CONNECTION;
      fail(flight, toOne, why, inWords, new StoreException(inWords, failure));
    }
    pump(toOne);
    endWhenIdle();
  }

  private void fail(
      Flight flight, Traffic toOne, Failure why, String inWords, StoreException failure) {
    shared.health.failed(flight.fail(failure), why, inWords);
    shared.health.refused(toOne.node);
  }

  /**
   * Notes what was late, and judges Redis by the round trip that has waited longest for an answer,
   * however many calls wait for it.
   */
  private void swept(int late, int lateLeases) {
    shared.health.failed(late, Failure.DEADLINE, Failures.LATE);
    shared.health.failed(lateLeases, Failure.LEASE_DEADLINE, Failures.LATE);
    long now = shared.time.monotonicNanos();
    boolean stuck = false;
    for (Traffic each : traffic.values()) {
      each.forgetAnswered();
      Flight oldest = each.flights.peek();
      if (oldest != null) {
        stuck |= now - oldest.sentNanos > leaseNanos();
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

    /** Loads the script, before anything else that is sent. */
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
            connected.complete(null);
          });
      shared.health.connected();
    }

    @Override
    public void notConnected(String whyInWords) {
      shared.health.notConnected(whyInWords);
    }
  }

  private long leaseNanos() {
    return TimeUnit.MILLISECONDS.toNanos(shared.settings.leaseDeadlineMillis());
  }
}
