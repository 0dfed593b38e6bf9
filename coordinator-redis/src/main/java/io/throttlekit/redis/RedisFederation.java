package io.throttlekit.redis;

import io.lettuce.core.ScriptOutputType;
import io.throttlekit.TimeSource;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A Redis that runs the scripts of a federation or a fleet. Thread-safe and non-blocking. */
abstract sealed class RedisFederation extends ScriptExecutor<ScriptCall<?>>
    permits RedisGlobalCoordinator,
        RedisRegionalEscrow,
        RedisConcurrencyCoordinator,
        RedisRecordStore,
        RedisReleaseExchange,
        RedisSteeringExchange {
  private static final Script CLOCK = Script.ofFederation("clock");

  /** The tags whose node's clock is read in turn; they spread over a Cluster's nodes. */
  private static final int CLOCK_TAGS = 32;

  final FederationKeys keys;
  private final AtomicInteger clockCalls = new AtomicInteger();

  /**
   * Begins to connect.
   *
   * @param scripts the scripts to run, besides the one that reads the clock
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  RedisFederation(List<Script> scripts, Setup setup) {
    FederationKeys keys =
        new FederationKeys(setup.settings().access().keyPrefix(), setup.settings().cluster());
    Epochs epochs = new Epochs(setup.listener());
    Map<Script, Script> bySource = new HashMap<>();
    for (Script script : scripts) {
      bySource.put(script, setup.settings().cluster() ? script.inCluster() : script);
    }
    bySource.put(CLOCK, setup.settings().cluster() ? CLOCK.inCluster() : CLOCK);
    super(
        setup, keys.ofTag(0).epochKey(), epochs, new Single(bySource, epochs, setup.storeClock()));
    this.keys = keys;
  }

  /** Runs a call; the answer to a repeatable one counts however late it arrives. */
  final <T> CompletionStage<T> run(ScriptCall<T> call) {
    submit(call);
    return call.reply;
  }

  /** Completes with the clock of a Redis; in a Cluster, of another node each time. */
  public final CompletionStage<Long> health() {
    int tag = Math.floorMod(clockCalls.getAndIncrement(), CLOCK_TAGS);
    return run(
        new ScriptCall<>(
            CLOCK, keys.ofTag(tag), List.of(), leaseDeadline(), false, reply -> reply.number(0)));
  }

  /**
   * Sends each call in a round trip of its own, because calls are infrequent.
   *
   * @param bySource the script to run for each script that is called: in a Cluster another one
   */
  private record Single(
      Map<Script, Script> bySource, Epochs epochs, @Nullable TimeSource storeClock)
      implements RoundTrip.Batching<ScriptCall<?>> {

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
      List<byte[]> arguments = new ArrayList<>();
      arguments.add(epochs.known(call.place.epoch()));
      arguments.add(ScriptCall.clock(storeClock));
      arguments.addAll(call.arguments);
      byte[][] all = arguments.toArray(byte[][]::new);
      return new RoundTrip<>(calls, script, call.keys, all, ScriptOutputType.MULTI, nowNanos) {
        @Override
        void complete(List<Object> reply) {
          call.complete(reply, epochs);
        }
      };
    }
  }
}
