package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreListener;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The escrow of a region in its Redis: a single server, one behind Sentinels, or a Cluster, by
 * Redis's own clock.
 *
 * <p>A call without an id fails at the lease deadline of the settings, and may have taken effect. A
 * call with an id, and a refill, fail only when their connection is lost: an answer counts however
 * late it arrives. While Redis does not answer, calls fail at once, except for a few probes. The
 * escrow recovers by itself, and is empty then: units are spent only on the server that stored
 * them, until it ends, becomes a replica, or gets its first replica. Any successor (a restart, a
 * replica, another master of a slot) may have older data.
 *
 * <p>Processes of one region have the same key prefix; regions that share a Redis have different
 * ones. A refill is kept for ten seconds after its window.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisRegionalEscrow extends RedisFederation implements RegionalEscrow {
  private static final Script LEASE = Script.ofFederation("escrow", "lease_escrow");
  private static final Script REFILL = Script.ofFederation("escrow", "refill_escrow");
  private static final Script RELEASE = Script.ofFederation("escrow", "release_escrow");

  /** Creates an escrow, possibly with a test's clock. */
  RedisRegionalEscrow(Setup setup) {
    super(List.of(LEASE, REFILL, RELEASE), setup);
  }

  /**
   * Creates an escrow, with a connection for each event loop.
   *
   * @param group loops of a server, of the transport that Lettuce uses here (epoll if its library
   *     is on the class path, else NIO); not shut down by the escrow. Null for a loop of its own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisRegionalEscrow connect(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group) {
    return new RedisRegionalEscrow(new Setup(settings, time, listener, group, null));
  }

  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
    Place place = keys.of(key);
    return run(
        new ScriptCall<>(
                LEASE,
                place,
                keys(place, key),
                leaseDeadline(),
                id != null,
                RedisRegionalEscrow::grant)
            .with(units)
            .with(id));
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    CounterKey key = refill.key();
    Place place = keys.of(key);
    List<byte[]> keys =
        List.of(held(place, key), place.key("refills" + refill.windowEndMillis(), key));
    return run(
        new ScriptCall<>(REFILL, place, keys, leaseDeadline(), true, reply -> reply.number(0) == 1)
            .with(refill.windowEndMillis())
            .with(refill.id())
            .with(refill.units())
            .with(refill.beginsMillis())
            .with(refill.endsMillis()));
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
    Place place = keys.of(key);
    return run(
        new ScriptCall<>(
                RELEASE,
                place,
                keys(place, key),
                leaseDeadline(),
                id != null,
                reply -> reply.unlessOvertaken(0))
            .with(windowEndMillis)
            .with(id));
  }

  private static byte[] held(Place place, CounterKey key) {
    return place.key("held", key);
  }

  /** Returns the keys of the units held and of the answered calls. */
  private static List<byte[]> keys(Place place, CounterKey key) {
    return List.of(held(place, key), place.key("calls", key));
  }

  private static EscrowGrant grant(ScriptCall.Reply reply) {
    long now = reply.unlessOvertaken(0);
    if (reply.size() == 1) {
      return EscrowGrant.nothing(now);
    }
    return new EscrowGrant(
        reply.number(1), reply.number(2), reply.number(3), reply.number(4), now, reply.number(5));
  }
}
