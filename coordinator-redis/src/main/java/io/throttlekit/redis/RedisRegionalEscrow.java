package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.StoreListener.Failure;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What a region holds, in its Redis: one Redis, one behind Sentinels, or a Cluster, by Redis's own
 * clock.
 *
 * <p>A call without an id that is not answered within the lease deadline of its settings fails, and
 * what it asked may have happened. One with an id, and a refill, fails when its connection does: an
 * answer counts however late it comes. While Redis does not answer, calls fail at once, but for a
 * few that probe. It comes back by itself, and holds nothing then: units are spent on the server
 * that took them in, until it ends, becomes a replica, or gets its first replica. Whatever takes
 * its place (another start, a replica, another master of a slot) may have older data.
 *
 * <p>Processes of one region have the same key prefix, those of others another, if they share a
 * Redis. A refill stays known for ten seconds after its window.
 *
 * <p>Thread-safe. Nothing blocks; stages complete on event loops.
 */
public final class RedisRegionalEscrow implements RegionalEscrow {
  private static final Script LEASE = Script.ofFederation("escrow", "lease_escrow");
  private static final Script REFILL = Script.ofFederation("escrow", "refill_escrow");
  private static final Script RELEASE = Script.ofFederation("escrow", "release_escrow");

  private final Scripts redis;

  private RedisRegionalEscrow(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group,
      @Nullable TimeSource storeClock) {
    this.redis =
        new Scripts(
            List.of(LEASE, REFILL, RELEASE),
            settings,
            settings.leaseDeadlineMillis(),
            Failure.LEASE_DEADLINE,
            time,
            listener,
            group,
            storeClock);
  }

  /**
   * An escrow on a thread of its own; {@code listener} hears of what it does.
   *
   * @throws IllegalArgumentException when the URL is none of Redis, or a file of TLS is not good
   */
  public static RedisRegionalEscrow connect(
      RedisSettings settings, TimeSource time, StoreListener listener) {
    return new RedisRegionalEscrow(settings, time, listener, null, null);
  }

  /**
   * An escrow on the threads of a server, with a connection for each of its event loops.
   *
   * @param group loops of the transport that Lettuce takes here (epoll where its library is on the
   *     class path, else NIO); not ended by the escrow
   */
  public static RedisRegionalEscrow connect(
      RedisSettings settings, TimeSource time, StoreListener listener, EventLoopGroup group) {
    return new RedisRegionalEscrow(settings, time, listener, group, null);
  }

  /** An escrow whose windows follow a test's clock. */
  static RedisRegionalEscrow connectWithClock(
      RedisSettings settings, StoreListener listener, TimeSource storeClock) {
    return new RedisRegionalEscrow(settings, TimeSource.system(), listener, null, storeClock);
  }

  /** Completes when all its connections have been made once; never while there is no Redis. */
  public CompletionStage<?> ready() {
    return redis.ready();
  }

  /** Whether Redis answered lately, or was not asked. */
  public boolean isUp() {
    return redis.isUp();
  }

  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
    Place place = redis.keys.of(key);
    ScriptCall<EscrowGrant> call =
        new ScriptCall<>(LEASE, place, keys(place, key), RedisRegionalEscrow::grant)
            .with(units)
            .with(id);
    return id == null ? redis.run(call) : redis.runPatiently(call);
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    CounterKey key = refill.key();
    Place place = redis.keys.of(key);
    List<byte[]> keys =
        List.of(held(place, key), place.key("refills" + refill.windowEndMillis(), key));
    return redis.runPatiently(
        new ScriptCall<>(REFILL, place, keys, reply -> reply.number(0) == 1)
            .with(refill.windowEndMillis())
            .with(refill.id())
            .with(refill.units())
            .with(refill.beginsMillis())
            .with(refill.endsMillis()));
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
    Place place = redis.keys.of(key);
    ScriptCall<Long> call =
        new ScriptCall<>(RELEASE, place, keys(place, key), reply -> acted(reply.number(0)))
            .with(windowEndMillis)
            .with(id);
    return id == null ? redis.run(call) : redis.runPatiently(call);
  }

  @Override
  public CompletionStage<Long> health() {
    return redis.look();
  }

  @Override
  public void close() {
    redis.close();
  }

  /**
   * Completes after {@link #close} when what was asked before it has been answered, or has taken as
   * long as a lease may. The threads of a server have to run until then.
   */
  public CompletionStage<?> ended() {
    return redis.ended();
  }

  private static byte[] held(Place place, CounterKey key) {
    return place.key("held", key);
  }

  /** What is held, and what calls were answered. */
  private static List<byte[]> keys(Place place, CounterKey key) {
    return List.of(held(place, key), place.key("calls", key));
  }

  private static long acted(long units) {
    if (units < 0) {
      throw StoreException.overtaken();
    }
    return units;
  }

  private static EscrowGrant grant(Reply reply) {
    long now = acted(reply.number(0));
    if (reply.size() == 1) {
      return EscrowGrant.nothing(now);
    }
    return new EscrowGrant(
        reply.number(1), reply.number(2), reply.number(3), reply.number(4), now, reply.number(5));
  }
}
