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
 * Runs scripts in Redis over one connection, from one event loop, each at once.
 *
 * <p>For calls that are few; a {@link Lane} gathers many. Calls come from any thread; everything
 * else happens on the loop. Nothing is sent twice unless Redis said that it did not run it.
 */
final class ScriptLane implements Lanes.OnLoop {
  private static final long LOOK_MILLIS = 50;

  private final EventLoop loop;
  private final CompletableFuture<@Nullable Void> connected = new CompletableFuture<>();
  private final Shared shared;
  private final Link link;

  /** In the order in which they were sent. */
  private final Set<Sent> underWay = new LinkedHashSet<>();

  /** When a failure of a node was counted last. */
  private final Map<String, Long> countedNanos = new HashMap<>();

  private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
  private boolean looking;
  private boolean closing;
  private boolean closed;

  /**
   * What all lanes have in common.
   *
   * @param deadlineMillis how long a call may take
   * @param kind of failure that it is when one takes longer
   * @param scripts what runs for each that is called
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

  /** A call that is under way. */
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
   * Sends a call, and fails it when its time is up, or at once while Redis does not answer; from
   * any thread.
   */
  void submit(ScriptCall<?> call) {
    if (!shared.health.allows(link.node(call.place.slot))) {
      call.fail(StoreException.notSent(Health.NOT_ASKED));
      return;
    }
    try {
      loop.execute(() -> send(call));
    } catch (RejectedExecutionException _) {
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
      underWay.forEach(sent -> sent.call.fail(Failures.closed())); // before ended() is complete
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
      send(sent, commands, true); // it did not run
      return;
    }
    underWay.remove(sent);
    if (parts != null) {
      long nanos = shared.time.monotonicNanos() - sent.nanos;
      shared.health.answered(sent.node, 1, nanos);
      sent.call.land(parts, shared.epochs);
    } else {
      boolean told = failure instanceof RedisCommandExecutionException;
      if (Failures.refusesWrites(error) || (shared.settings.cluster() && !told)) {
        link.renew(); // it is no longer the master, or others have its slots now
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

  /** Judges Redis, while calls are under way, by how long they have been without an answer. */
  private void look() {
    looking = false;
    long now = shared.time.monotonicNanos();
    long longest = TimeUnit.MILLISECONDS.toNanos(shared.settings.leaseDeadlineMillis());
    boolean stuck = false;
    for (Sent each : underWay) {
      shared.health.unanswered(each.node, each.nanos);
      stuck |= now - each.nanos >= longest;
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

  /** A refusal counts once for all who waited for an answer then. */
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

    /** Loads the scripts, before anything else that is sent. */
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
    public void notConnected(String whyInWords) {
      shared.health.notConnected(whyInWords);
    }
  }
}
