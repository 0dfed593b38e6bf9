package io.throttlekit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.ByteArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts in Redis over one connection, from one event loop, without batching.
 *
 * <p>For infrequent calls; {@link Lane} batches. Calls come from any thread; everything else runs
 * on the loop. A call is repeated only if Redis reported that the script did not run.
 */
final class ScriptLane implements Lanes.OnLoop {
  /** The interval, while calls are in flight, at which their age is reported to the breakers. */
  private static final long LOOK_MILLIS = 50;

  private final EventLoop loop;
  private final CompletableFuture<@Nullable Void> connected = new CompletableFuture<>();
  private final Shared shared;
  private final Link link;

  /** The calls in flight, in the order in which they were sent. */
  private final Set<Sent> underWay = new LinkedHashSet<>();

  /** When a failure of each node was last counted. */
  private final Map<String, Long> countedNanos = new HashMap<>();

  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
  private boolean looking;
  private boolean closing;
  private boolean closed;

  /**
   * Objects that all lanes share.
   *
   * @param deadlineMillis the longest that a call may take
   * @param kind the kind of failure when a call takes longer
   * @param scripts the script to run for each script that is called
   */
  record Shared(
      RedisSettings settings,
      long deadlineMillis,
      Failure kind,
      TimeSource time,
      Epochs epochs,
      Handshake handshake,
      Health health,
      Map<Script, Script> scripts,
      @Nullable TimeSource storeClock) {}

  /** A call in flight. */
  private record Sent(ScriptCall<?> call, String node, long nanos, String knownEpoch) {}

  ScriptLane(EventLoop loop, Shared shared, Lane.LinkMaker links) {
    this.loop = loop;
    this.shared = shared;
    this.link = links.make(loop, new LinkListener());
  }

  @Override
  public EventLoop loop() {
    return loop;
  }

  @Override
  public void open() {
    link.open();
  }

  @Override
  public CompletableFuture<?> connected() {
    return connected;
  }

  /**
   * Sends a call, which fails at its deadline, or at once while the circuit breaker is open. Called
   * from any thread.
   */
  void submit(ScriptCall<?> call) {
    if (!shared.health.allows(link.node(call.place.slot))) {
      call.fail(StoreException.notSent(Health.NOT_ASKED));
      return;
    }
    try {
      loop.execute(() -> send(call));
    } catch (RejectedExecutionException _) { // the loop has shut down
      call.fail(Failures.closed());
    }
  }

  @Override
  public CompletionStage<?> close() {
    var _ = loop.schedule(this::end, shared.settings.leaseDeadlineMillis(), TimeUnit.MILLISECONDS);
    closing = true;
    endWhenIdle();
    return ended;
  }

  private void endWhenIdle() {
    if (closing && underWay.isEmpty()) {
      end();
    }
  }

  private void end() {
    if (!closed) {
      closed = true;
      underWay.forEach(sent -> sent.call.fail(Failures.closed())); // before ended() completes
      var _ = link.close().whenComplete((_, _) -> ended.complete(null));
    }
  }

  private void send(ScriptCall<?> call) {
    if (closed) {
      call.fail(Failures.closed());
      return;
    }
    Sent sent =
        new Sent(
            call,
            link.node(call.place.slot),
            shared.time.monotonicNanos(),
            shared.epochs.known(call.place.epoch));
    BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
    if (commands == null) {
      String why = "no connection to Redis: " + link.whyNot();
      fail(sent, Failure.CONNECTION, why, StoreException.notSent(why));
      return;
    }
    ScheduledFuture<?> deadline =
        loop.schedule(() -> expire(sent), shared.deadlineMillis, TimeUnit.MILLISECONDS);
    var _ = call.answer.whenComplete((_, _) -> deadline.cancel(false));
    underWay.add(sent);
    lookLater();
    send(sent, commands, false);
  }

  private void send(Sent sent, BaseRedisAsyncCommands<byte[], byte[]> commands, boolean withText) {
    ScriptCall<?> call = sent.call;
    TimeSource storeClock = shared.storeClock;
    Script script = Objects.requireNonNull(shared.scripts.get(call.script), "a script to run");
    CommandArgs<byte[], byte[]> arguments =
        new CommandArgs<>(ByteArrayCodec.INSTANCE)
            .add(withText ? script.text() : script.sha())
            .add(call.keys.length)
            .addKeys(call.keys)
            .add(sent.knownEpoch)
            .add(storeClock == null ? "" : Long.toString(storeClock.wallMillis()));
    call.arguments().forEach(arguments::add);
    RedisFuture<List<Object>> reply =
        commands.dispatch(
            withText ? CommandType.EVAL : CommandType.EVALSHA,
            new ArrayOutput<>(ByteArrayCodec.INSTANCE),
            arguments);
    reply.whenComplete((parts, failure) -> {
      // Lettuce may complete a command on another thread, e.g. when it rejects it.
      if (loop.inEventLoop()) {
        landed(sent, parts, failure, withText);
      } else {
        loop.execute(() -> landed(sent, parts, failure, withText));
      }
    });
  }

  private void landed(
      Sent sent, @Nullable List<Object> parts, @Nullable Throwable failure, boolean withText) {
    String error = failure == null ? "" : String.valueOf(failure.getMessage());
    BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
    if (error.startsWith("NOSCRIPT") && !withText && commands != null) {
      send(sent, commands, true); // NOSCRIPT: the script did not run
      return;
    }
    underWay.remove(sent);
    if (parts != null) {
      long nanos = shared.time.monotonicNanos() - sent.nanos;
      shared.health.answered(sent.node, 1, nanos);
      sent.call.land(parts, shared.epochs);
    } else {
      boolean told = failure instanceof RedisCommandExecutionException; // an error reply
      if (Failures.refusesWrites(error) || (shared.settings.cluster() && !told)) {
        link.renew(); // the node is no longer the master, or its slots have moved
      }
      String inWords = "Redis: " + error;
      Failure why = told ? Failure.ERROR : Failure.CONNECTION;
      fail(sent, why, inWords, new StoreException(inWords, failure));
    }
    endWhenIdle();
  }

  private void fail(Sent sent, Failure why, String inWords, StoreException failure) {
    if (sent.call.fail(failure)) {
      shared.health.failed(1, why, inWords);
    }
    count(sent);
  }

  private void expire(Sent sent) {
    long millis = shared.deadlineMillis;
    if (!sent.call.answer.completeExceptionally(
        StoreException.late(Failures.lateForCaller(millis)))) {
      return;
    }
    shared.health.failed(1, shared.kind, Failures.late(millis));
  }

  /** Reports the age of calls in flight, which the breakers time. */
  private void look() {
    looking = false;
    long now = shared.time.monotonicNanos();
    long longest = TimeUnit.MILLISECONDS.toNanos(shared.settings.leaseDeadlineMillis());
    boolean stuck = false;
    for (Sent each : underWay) {
      shared.health.unanswered(each.node, each.nanos);
      if (now - each.nanos >= longest) {
        stuck = true;
        expire(each); // before the connection closes, which would be reported instead
      }
    }
    if (stuck) {
      link.renew();
    }
    lookLater();
  }

  private void lookLater() {
    if (!looking && !underWay.isEmpty()) {
      looking = true;
      var _ = loop.schedule(this::look, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Counts a failure once for all calls that were in flight at the time. */
  private void count(Sent sent) {
    Long counted = countedNanos.get(sent.node);
    if (counted == null || sent.nanos - counted > 0) {
      countedNanos.put(sent.node, shared.time.monotonicNanos());
      shared.health.refused(sent.node);
    }
  }

  private final class LinkListener implements Link.Listener {

    @Override
    public CompletionStage<?> connecting(BaseRedisAsyncCommands<byte[], byte[]> commands) {
      return shared.handshake.over(commands);
    }

    /** Loads the scripts, before any other command. */
    @Override
    public void connected() {
      BaseRedisAsyncCommands<byte[], byte[]> commands = link.commands();
      if (commands == null) {
        return;
      }
      CompletableFuture<?>[] loads =
          shared.scripts.values().stream()
              .map(script -> load(script, commands))
              .toArray(CompletableFuture[]::new);
      var _ =
          CompletableFuture.allOf(loads)
              .whenComplete((_, failure) -> {
                if (failure == null) {
                  shared.health.greeted();
                }
                // Even after an error: a script that is not loaded is sent with its text.
                connected.complete(null);
              });
      shared.health.connected();
    }

    private static CompletableFuture<?> load(
        Script script, BaseRedisAsyncCommands<byte[], byte[]> commands) {
      return commands
          .dispatch(
              CommandType.SCRIPT,
              new ByteArrayOutput<>(ByteArrayCodec.INSTANCE),
              new CommandArgs<>(ByteArrayCodec.INSTANCE).add("LOAD").add(script.text()))
          .toCompletableFuture();
    }

    @Override
    public void notConnected(String failureReason) {
      shared.health.notConnected(failureReason);
    }
  }
}
