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
import io.throttlekit.redis.RedisListener.Failure;
import io.throttlekit.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
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
final class Lane {
  private static final int LOOK_AHEAD = 256;

  /** What a round trip decides takes the time of everybody's requests to that Redis. */
  private static final int MAX_CHARGES = 4096;

  private static final int IN_FLIGHT_FACTOR_OF_CLUSTER = 16;

  final EventLoop loop;

  /** Completes with the first connection. */
  final CompletableFuture<@Nullable Void> connected = new CompletableFuture<>();

  private final Shared shared;
  private final Link link;
  private final int maxInFlight;
  private final Deadlines soon;
  private final Deadlines later;

  private final Queue<Call<?>> arrived = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean gathering = new AtomicBoolean();
  private final Deque<Call<?>> waiting = new ArrayDeque<>();
  private final Queue<Flight> flights = new ArrayDeque<>();

  /** What all lanes of a store have in common. */
  record Shared(
      RedisSettings settings,
      TimeSource time,
      Script script,
      Slots slots,
      Epochs epochs,
      Health health,
      @Nullable TimeSource storeClock) {}

  Lane(EventLoop loop, Shared shared, LinkMaker links) {
    this.loop = loop;
    this.shared = shared;
    boolean cluster = shared.slots.isCluster();
    this.maxInFlight = shared.settings.maxInFlight() * (cluster ? IN_FLIGHT_FACTOR_OF_CLUSTER : 1);
    this.soon = new Deadlines(loop, shared.time, this::expired);
    this.later = new Deadlines(loop, shared.time, this::expired);
    this.link = links.make(loop, this::connected);
  }

  /** Makes the connection of a lane. */
  @FunctionalInterface
  interface LinkMaker {
    /** Begins to connect; tells {@code connected} on the loop of each connection. */
    Link make(EventLoop loop, Runnable connected);
  }

  /** Sends a call, and fails it when its time is up; from any thread. */
  void submit(Call<?> call) {
    arrived.add(call);
    if (gathering.compareAndSet(false, true)) {
      try {
        loop.execute(this::gather);
      } catch (RejectedExecutionException _) {
        failArrived();
      }
    }
  }

  /** Closes the connection; what is under way fails. */
  CompletionStage<?> close() {
    failArrived();
    return link.close();
  }

  private void failArrived() {
    for (Call<?> call = arrived.poll(); call != null; call = arrived.poll()) {
      call.answer.completeExceptionally(new StoreException("the store is closed", null));
    }
  }

  private void gather() {
    gathering.set(false);
    for (Call<?> call = arrived.poll(); call != null; call = arrived.poll()) {
      waiting.add(call);
      (call.patient ? later : soon).add(call);
    }
    pump();
  }

  private void pump() {
    while (flights.size() < maxInFlight && !waiting.isEmpty()) {
      List<Call<?>> together = next();
      if (!together.isEmpty()) {
        send(together);
      }
    }
  }

  /** The call that waited longest, and others of its slot, but those that nobody waits for. */
  private List<Call<?>> next() {
    List<Call<?>> together = new ArrayList<>();
    int slot = waiting.getFirst().slot;
    int looked = 0;
    int charges = 0;
    for (Iterator<Call<?>> each = waiting.iterator();
        each.hasNext()
            && together.size() < shared.settings.maxBatch()
            && charges < MAX_CHARGES
            && looked < LOOK_AHEAD; ) {
      Call<?> call = each.next();
      looked++;
      charges += call.weight();
      if (call.slot == slot) {
        each.remove();
        if (!call.answer.isDone()) {
          together.add(call);
        }
      }
    }
    return together;
  }

  private void send(List<Call<?>> together) {
    Flight flight = new Flight(together, shared.slots, shared.epochs, shared.time.monotonicNanos());
    BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
    if (commands == null) {
      fail(flight, Failure.CONNECTION, "no connection to Redis: " + link.whyNot(), null);
      return;
    }
    flights.add(flight);
    send(flight, commands, false);
  }

  private void send(
      Flight flight, BaseRedisAsyncCommands<byte[], byte[]> commands, boolean withText) {
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
        landed(flight, bytes, failure, withText);
      } else {
        loop.execute(() -> landed(flight, bytes, failure, withText));
      }
    });
  }

  private void landed(
      Flight flight, byte @Nullable [] reply, @Nullable Throwable failure, boolean withText) {
    String error = failure == null ? "" : String.valueOf(failure.getMessage());
    BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
    if (error.startsWith("NOSCRIPT") && !withText && commands != null) {
      send(flight, commands, true); // it did not run
      return;
    }
    flights.remove(flight);
    if (reply != null) {
      long nanos = shared.time.monotonicNanos() - flight.sentNanos;
      shared.health.answered(flight.size(), nanos, flight.inTime());
      flight.land(reply, shared.epochs);
    } else {
      boolean told = failure instanceof RedisCommandExecutionException;
      if (error.startsWith("READONLY")) {
        link.renew(); // it is no longer the master
      }
      fail(flight, told ? Failure.ERROR : Failure.CONNECTION, "Redis: " + error, failure);
    }
    pump();
  }

  private void fail(Flight flight, Failure why, String inWords, @Nullable Throwable cause) {
    shared.health.failed(flight.fail(new StoreException(inWords, cause)), why, inWords);
  }

  private void expired(int calls) {
    shared.health.failed(calls, Failure.DEADLINE, "no answer in time");
    Flight oldest = flights.peek();
    long patience = TimeUnit.MILLISECONDS.toNanos(shared.settings.leaseDeadlineMillis());
    if (oldest != null && shared.time.monotonicNanos() - oldest.sentNanos > patience) {
      link.renew();
    }
  }

  /** Loads the script, before anything else that is sent. */
  private void connected() {
    BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
    if (commands != null) {
      commands
          .dispatch(
              CommandType.SCRIPT,
              new ByteArrayOutput<>(ByteArrayCodec.INSTANCE),
              new CommandArgs<>(ByteArrayCodec.INSTANCE).add("LOAD").add(shared.script.text()))
          .whenComplete((_, _) -> connected.complete(null));
    }
  }
}
