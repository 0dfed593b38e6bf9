package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A Redis that runs the scripts of a federation. Thread-safe and non-blocking. */
final class Scripts {
  private static final Script LOOK = Script.ofFederation("look");

  /**
   * The tags whose Redis is requested for its clock in turn; they spread over a Cluster's nodes.
   */
  private static final int LOOKED_AT = 32;

  final FederationKeys keys;
  private final Health health;
  private final Lanes<ScriptLane> lanes;
  private final AtomicInteger looks = new AtomicInteger();

  /**
   * Begins to connect.
   *
   * @param scripts the scripts to run, besides the one that reads the clock
   * @param deadlineMillis the longest that a call may take
   * @param kind the kind of failure when a call takes longer
   * @param group the event loops of a server; absent for a loop of its own
   * @param storeClock replaces Redis's clock in tests
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  Scripts(
      List<Script> scripts,
      RedisSettings settings,
      long deadlineMillis,
      Failure kind,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group,
      @Nullable TimeSource storeClock) {
    this.keys = new FederationKeys(settings.access().keyPrefix(), settings.cluster());
    this.health = new Health(settings, time, listener);
    Epochs epochs = new Epochs(listener);
    Place any = keys.ofTag(0);
    Handshake handshake =
        new Handshake(
            any.epochKey,
            settings.cluster() ? null : KeyText.historyOf(any.epochKey),
            epochs,
            listener,
            storeClock);
    Map<Script, Script> bySource = new HashMap<>();
    Stream.concat(Stream.of(LOOK), scripts.stream())
        .forEach(each -> bySource.put(each, settings.cluster() ? each.inCluster() : each));
    ScriptLane.Shared shared =
        new ScriptLane.Shared(
            settings, deadlineMillis, kind, time, epochs, handshake, health, bySource, storeClock);
    this.lanes = new Lanes<>(settings, group, (loop, links) -> new ScriptLane(loop, shared, links));
  }

  <T> CompletionStage<T> run(ScriptCall<T> call) {
    if (lanes.isClosed()) {
      call.fail(Failures.closed());
    } else {
      lanes.mine().submit(call);
    }
    return call.answer;
  }

  /** Runs a call whose answer counts however late it arrives. */
  <T> CompletionStage<T> runWithoutDeadline(ScriptCall<T> call) {
    run(call);
    return call.reply;
  }

  /** Completes with the clock of a Redis; in a Cluster, of another node each time. */
  CompletionStage<Long> look() {
    return run(lookCall());
  }

  CompletionStage<?> ready() {
    return lanes.ready();
  }

  boolean isUp() {
    return health.isUp();
  }

  void close() {
    lanes.close();
  }

  CompletionStage<?> ended() {
    return lanes.ended();
  }

  private ScriptCall<Long> lookCall() {
    int tag = Math.floorMod(looks.getAndIncrement(), LOOKED_AT);
    return new ScriptCall<>(LOOK, keys.ofTag(tag), List.of(), reply -> reply.number(0));
  }
}
