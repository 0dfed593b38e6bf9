package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Counters in Redis, decided by one script and by Redis's own clock, with the same results as
 * {@link io.throttlekit.store.InMemoryStore}.
 *
 * <p>A request takes one round trip, however many descriptors it has, and concurrent requests share
 * round trips. In a Cluster each counter has its own hash slot. A request whose counters are in
 * several slots is charged slot by slot, in the order of their numbers, and charges that do not
 * count in the end are returned; so a counter may briefly read too high, never too low.
 *
 * <p>The cost of a charge on a counter that tenants share grows with the number of different
 * weights, not of tenants. Ids of calls are kept with the tenant: once it is evicted, a repeated
 * lease is another one.
 *
 * <p>A call without an answer in time fails. It is not repeated, and may have been counted. While
 * Redis does not answer, calls fail at once, except for a few probes; the store recovers by itself.
 * The store may be created while Redis is unreachable.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisCounterStore extends ScriptExecutor<CounterCall<?>>
    implements CounterStore {
  /** The most keys of a request: scripts number keys with 16 bits, beside the epoch's. */
  private static final int MAX_KEYS = 0xF000;

  /** The keys of a counter that tenants share. */
  private static final int KEYS_OF_POOL = 3;

  private final Slots slots;
  private final long deadlineNanos;

  /** Creates a store, possibly with a test's clock. */
  RedisCounterStore(Setup setup) {
    RedisSettings settings = setup.settings();
    Slots slots = new Slots(new KeyText(settings.access().keyPrefix()), settings.cluster());
    Epochs epochs = new Epochs(setup.listener());
    byte[] epochKey = slots.epochKey(slots.isCluster() ? 0 : Slots.NONE);
    super(
        setup, epochKey, epochs, new CounterBatching(settings, slots, epochs, setup.storeClock()));
    this.slots = slots;
    this.deadlineNanos = TimeUnit.MILLISECONDS.toNanos(settings.deadlineMillis());
  }

  /** Creates a store on an event loop of its own, without a listener; the clock is the system's. */
  public static RedisCounterStore connect(RedisSettings settings) {
    return connect(settings, TimeSource.system(), StoreListener.NONE, null);
  }

  /**
   * Creates a store, with a connection for each event loop: a request from such a loop is sent and
   * answered on it.
   *
   * <p>Returns before there is a connection. Calls until then wait for the first attempt to
   * connect, at most until their deadlines; {@link #ready()} completes with the connections.
   *
   * @param group loops of a server, of the transport that Lettuce uses here (epoll if its library
   *     is on the class path, else NIO); not shut down by the store. Null for a loop of its own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisCounterStore connect(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group) {
    return new RedisCounterStore(new Setup(settings, time, listener, group, null));
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    int slot = Slots.NONE;
    int counterKeys = 0;
    boolean oneSlot = true;
    for (int c = 0; c < claims.size(); c++) {
      List<Charge> ofClaim = claims.get(c).charges();
      for (int i = 0; i < ofClaim.size(); i++) {
        Charge charge = ofClaim.get(i);
        counterKeys += keysOf(charge);
        if (slots.isCluster()) {
          int ofCharge = slots.of(charge.key());
          oneSlot &= slot == Slots.NONE || slot == ofCharge;
          slot = ofCharge;
        }
      }
    }
    if (counterKeys == 0) {
      return CompletableFuture.completedFuture(new Outcome(true, List.of()));
    }
    check(counterKeys);
    long deadline = deadline(waitNanos);
    if (!oneSlot) {
      return new SlotBySlot(claims, charge -> placeOf(charge, 0), time).acquire(deadline);
    }
    return run(CounterCall.acquire(slot, deadline, claims));
  }

  /**
   * Decides and counts the claims of one request whose counters are in several stores.
   *
   * <p>The stores are called one after the other, like the slots of a Cluster: charges that do not
   * count in the end are returned. If a store fails, the stage fails with the {@linkplain
   * StoreException#part() part} of the request that it concerns, and later stores are not called.
   *
   * @param stores in the order in which they are called, which all requests have in common
   * @param storeOf returns the number of a charge's store
   * @param waitNanos as for {@link #acquire(List, long)}, with the deadline of the first store
   * @throws IllegalArgumentException when the request has more counters than one store may have
   */
  public static CompletionStage<Outcome> acquire(
      List<RedisCounterStore> stores,
      ToIntFunction<Charge> storeOf,
      List<Claim> claims,
      long waitNanos) {
    check(
        claims.stream()
            .flatMap(claim -> claim.charges().stream())
            .mapToInt(RedisCounterStore::keysOf)
            .sum());
    RedisCounterStore first = stores.getFirst();
    Function<Charge, SlotBySlot.Place> places =
        charge -> {
          int number = storeOf.applyAsInt(charge);
          return stores.get(number).placeOf(charge, number);
        };
    return new SlotBySlot(claims, places, first.time).acquire(first.deadline(waitNanos));
  }

  private static int keysOf(Charge charge) {
    return charge.tenant() == null ? 1 : KEYS_OF_POOL;
  }

  private static void check(int counterKeys) {
    if (counterKeys > MAX_KEYS) {
      throw new IllegalArgumentException(
          counterKeys + " keys of counters are more than " + MAX_KEYS);
    }
  }

  private SlotBySlot.Place placeOf(Charge charge, int number) {
    return new SlotBySlot.Place(number, this, slots.of(charge.key()));
  }

  private long deadline(long waitNanos) {
    // A caller's deadline that has passed is negative.
    return time.monotonicNanos() + Math.clamp(waitNanos, 0, deadlineNanos);
  }

  /**
   * Decides the part of a request that concerns one slot.
   *
   * @param refused whether the request is refused already
   */
  CompletionStage<CounterCall.Part> acquirePart(
      int slot, long deadline, List<Claim> claims, boolean refused) {
    return run(CounterCall.part(slot, deadline, claims, refused));
  }

  /**
   * Undoes a charge as far as it still counts, so that no other charge is returned with it.
   *
   * @param chargedMillis when it was charged, by the store's clock
   * @param countsToMillis the reset after the charge, by the same clock
   * @return the counter's state after it
   */
  CompletionStage<Decision> returnUnits(Charge charge, long chargedMillis, long countsToMillis) {
    int slot = slots.of(charge.key());
    return run(
        CounterCall.returnUnits(
            slot, leaseDeadline(), charge, chargedMillis, countsToMillis, null));
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    return run(CounterCall.lease(slots.of(request.key()), leaseDeadline(), request))
        .thenApply(RedisCounterStore::granted);
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    Charge taken = new Charge(lease.key(), lease.window(), units, Overrun.REFUSE, lease.tenant());
    // A lease is charged in its window, so any time in the window identifies it.
    long begun = windowEndMillis - lease.window().windowMillis();
    return run(CounterCall.returnUnits(
            slots.of(lease.key()), leaseDeadline(), taken, begun, windowEndMillis, lease.id()))
        .thenAccept(_ -> {});
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    return run(CounterCall.reset(slots.of(key), time.monotonicNanos() + deadlineNanos, key))
        .thenAccept(_ -> {});
  }

  @Override
  public CompletionStage<Void> resetTenant(CounterKey key, FairTenant tenant) {
    FairTerms terms = tenant.terms();
    FixedWindow window = new FixedWindow(terms.limit(), terms.windowMillis());
    Charge none = new Charge(key, window, 0, Overrun.COUNT, tenant);
    long deadline = time.monotonicNanos() + deadlineNanos;
    return run(CounterCall.resetTenant(slots.of(key), deadline, none)).thenAccept(_ -> {});
  }

  private static LeaseGrant granted(LeaseGrant grant) {
    if (grant.units() < 0) { // the script's mark of an overtaken call
      throw StoreException.overtaken();
    }
    return grant;
  }

  /** Sends a call; the answer to one with an id counts however late it arrives. */
  private <T> CompletionStage<T> run(CounterCall<T> call) {
    submit(call);
    return call.reply;
  }
}
