package io.throttlekit.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.throttlekit.TimeSource;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.redis.ScriptCall.Reply;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Redis that runs the scripts of a federation: infrequent calls, each in a round trip of its own.
 * Thread-safe and non-blocking.
 */
final class FederationScripts implements RoundTrip.Batching<ScriptCall<?>> {
  private static final Script CLOCK = Script.ofFederation("clock");

  /** The tags whose node's clock is read in turn; they spread over a Cluster's nodes. */
  private static final int CLOCK_TAGS = 32;

  final FederationKeys keys;
  final ScriptExecutor<ScriptCall<?>> executor;
  private final TimeSource time;
  private final long leaseDeadlineNanos;
  private final Epochs epochs;
  private final @Nullable TimeSource storeClock;

  /** The script to run for each script that is called: in a Cluster another one. */
  private final Map<Script, Script> bySource = new HashMap<>();

  private final AtomicInteger clockCalls = new AtomicInteger();

  /**
   * Begins to connect.
   *
   * @param scripts the scripts to run, besides the one that reads the clock
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  FederationScripts(List<Script> scripts, ScriptExecutor.Setup setup) {
    RedisSettings settings = setup.settings();
    this.keys = new FederationKeys(settings.access().keyPrefix(), settings.cluster());
    this.time = setup.time();
    this.leaseDeadlineNanos = TimeUnit.MILLISECONDS.toNanos(settings.leaseDeadlineMillis());
    this.epochs = new Epochs(setup.listener());
    this.storeClock = setup.storeClock();
    Stream.concat(Stream.of(CLOCK), scripts.stream())
        .forEach(each -> bySource.put(each, settings.cluster() ? each.inCluster() : each));
    this.executor = new ScriptExecutor<>(setup, keys.ofTag(0).epochKey, epochs, this);
  }

  /**
   * Creates a call of a script, without arguments.
   *
   * @param keys of the place, without the epoch's
   * @param repeatable whether a repeated call takes effect once
   */
  <T> ScriptCall<T> call(
      Script script,
      Place place,
      List<byte[]> keys,
      boolean repeatable,
      Function<Reply, T> reader) {
    long deadline = time.monotonicNanos() + leaseDeadlineNanos;
    return new ScriptCall<>(script, place, keys, deadline, repeatable, reader);
  }

  /** Runs a call; the answer to a repeatable one counts however late it arrives. */
  <T> CompletionStage<T> run(ScriptCall<T> call) {
    executor.submit(call);
    return call.reply;
  }

  /** Completes with the clock of a Redis; in a Cluster, of another node each time. */
  CompletionStage<Long> clock() {
    int tag = Math.floorMod(clockCalls.getAndIncrement(), CLOCK_TAGS);
    return run(call(CLOCK, keys.ofTag(tag), List.of(), false, reply -> reply.number(0)));
  }

  @Override
  public List<Script> scripts() {
    return List.copyOf(bySource.values());
  }

  /** Not limited: calls are infrequent, and none waits for another. */
  @Override
  public int maxInFlight() {
    return Integer.MAX_VALUE;
  }

  @Override
  public List<ScriptCall<?>> next(Deque<ScriptCall<?>> waiting) {
    ScriptCall<?> call = waiting.removeFirst();
    return call.isExpired() ? List.of() : List.of(call);
  }

  @Override
  public RoundTrip<ScriptCall<?>, List<Object>> roundTrip(
      List<ScriptCall<?>> calls, long nowNanos) {
    ScriptCall<?> call = calls.getFirst();
    Script script = Objects.requireNonNull(bySource.get(call.script), "a script to run");
    return new Single(calls, script, call, nowNanos);
  }

  /** A round trip of one call. */
  private final class Single extends RoundTrip<ScriptCall<?>, List<Object>> {
    private final ScriptCall<?> call;

    Single(List<ScriptCall<?>> calls, Script script, ScriptCall<?> call, long nowNanos) {
      super(calls, script, call.keys, epochs.known(call.place.epoch), nowNanos);
      this.call = call;
    }

    @Override
    void addTo(CommandArgs<byte[], byte[]> arguments) {
      arguments.add(storeClock == null ? "" : Long.toString(storeClock.wallMillis()));
      call.arguments().forEach(arguments::add);
    }

    @Override
    CommandOutput<byte[], byte[], List<Object>> output() {
      return new ArrayOutput<>(ByteArrayCodec.INSTANCE);
    }

    @Override
    void complete(List<Object> reply) {
      call.complete(reply, epochs);
    }
  }
}
