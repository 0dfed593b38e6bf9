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

/** A Redis in which a federation's scripts are run. Thread-safe; nothing blocks. */
final class Scripts {
  private static final Script LOOK = Script.ofFederation("look");

  /** Tags whose Redis is asked for its clock in turn; those of a Cluster have some of them each. */
  private static final int LOOKED_AT = 32;

  final FederationKeys keys;
  private final Health health;
  private final Lanes<ScriptLane> lanes;
  private final AtomicInteger looks = new AtomicInteger();

  /**
   * Begins to connect.
   *
   * @param scripts that will be run, beside the one that looks
   * @param deadlineMillis how long a call may take
   * @param kind of failure that it is when one takes longer
   * @param group event loops of someone else; absent for one of its own
   * @param storeClock of a test, for Redis's
   * @throws IllegalArgumentException when the URL is none of Redis, or a file of TLS is not good
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

  /** Runs a call whose answer counts however late it comes. */
  <T> CompletionStage<T> runPatiently(ScriptCall<T> call) {
    run(call);
    return call.reply;
  }

  /** Completes with the clock of a Redis; in a Cluster, of another each time. */
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
