package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.record.RecordStore;
import io.throttlekit.record.RecordUpdates;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Records in Redis: a single server, one behind Sentinels, or a Cluster, by Redis's own clock.
 *
 * <p>An update reads the record, applies its transition here, and replaces the record if it is
 * still the one that was read: two round trips, or one if the transition changes nothing. Each
 * other process that changed the record in between costs one more. An update fails at the lease
 * deadline of the settings; it may have taken effect. Loss of data loses records.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisRecordStore extends RedisFederation implements RecordStore {
  private static final Script RECORD = Script.ofFederation("record");

  /** The most round trips of an update; of so many processes, one is first each time. */
  private static final int MAX_ROUND_TRIPS = 1_000;

  private static final byte[] NONE = {};

  private final RecordUpdates updates = new RecordUpdates(this::send);

  /**
   * A record as it was read.
   *
   * @param version 0 for no record
   */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Stored(long nowMillis, boolean replaced, long version, byte[] bytes) {
    static Stored of(ScriptCall.Reply reply) {
      return new Stored(reply.number(0), reply.number(1) == 1, reply.number(2), reply.bytes(3));
    }

    byte @Nullable [] record() {
      return version == 0 ? null : bytes;
    }
  }

  /** Creates a store, possibly with a test's clock. */
  RedisRecordStore(Setup setup) {
    super(List.of(RECORD), setup);
  }

  /**
   * Creates a store, with a connection for each event loop.
   *
   * @param group loops of a server, of the transport that Lettuce uses here; not shut down by the
   *     store. Null for a loop of its own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisRecordStore connect(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group) {
    return new RedisRecordStore(new Setup(settings, time, listener, group, null));
  }

  @Override
  public <R> CompletionStage<R> update(String key, Duration keptFor, Transition<R> transition) {
    return updates.update(key, keptFor, transition);
  }

  private <R> CompletionStage<R> send(String key, long keptMillis, Transition<R> transition) {
    ScriptCall<Stored> read = call(key).with(NONE).with(0).with(0).with(NONE);
    return run(read).thenCompose(stored -> replace(key, keptMillis, transition, stored, 1));
  }

  private <R> CompletionStage<R> replace(
      String key, long keptMillis, Transition<R> transition, Stored stored, int roundTrips) {
    byte[] record = stored.record();
    Step<R> step = transition.apply(record, stored.nowMillis());
    byte[] next = step.next();
    if (step.isUnchanged(record)) {
      return CompletableFuture.completedStage(step.result());
    }
    if (roundTrips == MAX_ROUND_TRIPS) {
      return CompletableFuture.failedStage(
          StoreException.notSent("other processes change the record " + key + " all the time"));
    }
    ScriptCall<Stored> write =
        call(key)
            .with(stored.version())
            .with(next == null ? 0 : 1)
            .with(keptMillis)
            .with(next == null ? NONE : next);
    return run(write)
        .thenCompose(now ->
            now.replaced()
                ? CompletableFuture.completedStage(step.result())
                : replace(key, keptMillis, transition, now, roundTrips + 1));
  }

  private ScriptCall<Stored> call(String key) {
    Place place = keys.of(key);
    return new ScriptCall<>(
        RECORD, place, List.of(place.key("record", key)), leaseDeadline(), false, Stored::of);
  }
}
