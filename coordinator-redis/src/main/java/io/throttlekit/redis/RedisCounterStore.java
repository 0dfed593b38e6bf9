package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.Grant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Counters in Redis, decided by one script and by Redis's own clock, with the same results as
 * {@link io.throttlekit.store.InMemoryStore}.
 *
 * <p>A request takes one round trip, however many descriptors it has, and concurrent requests share
 * round trips. In a Cluster each counter has its own hash slot. A request whose counters are in
 * several slots is charged slot by slot, in the order of their numbers, and charges that do not
 * count in the end are returned; so a counter may briefly read too high, never too low.
 *
 * <p>A call without an answer in time fails. It is not repeated, and may have been counted. While
 * Redis does not answer, calls fail at once, except for a few probes; the store recovers by itself.
 * It may be created while Redis is unreachable.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisCounterStore implements CounterStore {
  /** The most charges of a request: scripts number keys with 16 bits, beside the epoch's. */
  private static final int MAX_CHARGES = 0xF000;

  private final TimeSource time;
  private final Slots slots;
  private final long deadlineNanos;
  private final long leaseDeadlineNanos;
  private final ScriptExecutor<CounterCall<?>> redis;

  private RedisCounterStore(ScriptExecutor.Setup setup) {
    RedisSettings settings = setup.settings();
    this.time = setup.time();
    KeyText keys = new KeyText(settings.access().keyPrefix());
    this.slots = settings.cluster() ? Slots.ofCluster(keys) : Slots.none(keys);
    this.deadlineNanos = TimeUnit.MILLISECONDS.toNanos(settings.deadlineMillis());
    this.leaseDeadlineNanos = TimeUnit.MILLISECONDS.toNanos(settings.leaseDeadlineMillis());
    Epochs epochs = new Epochs(setup.listener());
    byte[] epochKey = slots.epochKey(slots.isCluster() ? 0 : Slots.NONE);
    this.redis =
        new ScriptExecutor<>(
            setup,
            epochKey,
            epochs,
            new CounterBatching(settings, slots, epochs, setup.storeClock()));
  }

  /**
   * Creates a store on a thread of its own.
   *
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisCounterStore connect(RedisSettings settings, TimeSource time) {
    return connect(settings, time, StoreListener.NONE);
  }

  /** Creates a store on a thread of its own that notifies {@code listener}. */
  public static RedisCounterStore connect(
      RedisSettings settings, TimeSource time, StoreListener listener) {
    return new RedisCounterStore(new ScriptExecutor.Setup(settings, time, listener, null, null));
  }

  /**
   * Creates a store on the threads of a server, with a connection for each event loop: a request
   * from such a loop is sent and answered on it.
   *
   * @param group loops of the transport that Lettuce uses here (epoll if its library is on the
   *     class path, else NIO); not shut down by the store
   */
  public static RedisCounterStore connect(
      RedisSettings settings, TimeSource time, StoreListener listener, EventLoopGroup group) {
    return new RedisCounterStore(new ScriptExecutor.Setup(settings, time, listener, group, null));
  }

  /** Creates a store whose windows follow a test's clock. */
  static RedisCounterStore connectWithClock(RedisSettings settings, TimeSource storeClock) {
    return new RedisCounterStore(
        new ScriptExecutor.Setup(
            settings, TimeSource.system(), StoreListener.NONE, null, storeClock));
  }

  /** Completes when every connection has been opened once; never while Redis is unreachable. */
  public CompletionStage<?> ready() {
    return redis.ready();
  }

  /** Returns whether Redis answers, as far as known; true without any call. */
  public boolean isUp() {
    return redis.isUp();
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    int slot = Slots.NONE;
    int charges = 0;
    boolean oneSlot = true;
    for (int c = 0; c < claims.size(); c++) {
      List<Charge> ofClaim = claims.get(c).charges();
      for (int i = 0; slots.isCluster() && i < ofClaim.size(); i++) {
        int ofCharge = slots.of(ofClaim.get(i).key());
        oneSlot &= slot == Slots.NONE || slot == ofCharge;
        slot = ofCharge;
      }
      charges += ofClaim.size();
    }
    if (charges == 0) {
      return CompletableFuture.completedFuture(new Outcome(true, List.of()));
    }
    if (charges > MAX_CHARGES) {
      throw new IllegalArgumentException(charges + " charges are more than " + MAX_CHARGES);
    }
    // A caller's deadline that has passed is negative.
    long deadline = time.monotonicNanos() + Math.clamp(waitNanos, 0, deadlineNanos);
    if (!oneSlot) {
      return new SlotBySlot(claims, slots, this, time).acquire(deadline);
    }
    return submit(new CounterCall.Acquire(slot, deadline, claims));
  }

  /**
   * Decides the part of a request that concerns one slot.
   *
   * @param refused whether the request is refused already
   */
  CompletionStage<CounterCall.Part.Result> acquirePart(
      int slot, long deadline, List<Claim> claims, boolean refused) {
    return submit(new CounterCall.Part(slot, deadline, claims, refused));
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
    return submit(
        new CounterCall.Return(slot, leaseDeadline(), charge, chargedMillis, countsToMillis, null));
  }

  @Override
  public CompletionStage<Grant> lease(LeaseRequest request) {
    return submit(new CounterCall.Lease(slots.of(request.key()), leaseDeadline(), request))
        .thenApply(RedisCounterStore::granted);
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    Charge taken = new Charge(lease.key(), lease.window(), units, Overrun.REFUSE);
    // A lease is charged in its window, so any time in the window identifies it.
    long begun = windowEndMillis - lease.window().windowMillis();
    return submit(
            new CounterCall.Return(
                slots.of(lease.key()), leaseDeadline(), taken, begun, windowEndMillis, lease.id()))
        .thenAccept(_ -> {});
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    return submit(new CounterCall.Reset(slots.of(key), time.monotonicNanos() + deadlineNanos, key))
        .thenAccept(_ -> {});
  }

  @Override
  public void close() {
    redis.close();
  }

  /**
   * Completes after {@link #close} when all earlier calls were answered, or the lease deadline has
   * passed. The event loops of a server have to run until then.
   */
  public CompletionStage<?> ended() {
    return redis.ended();
  }

  private static Grant granted(Grant grant) {
    if (grant.units() < 0) { // the script's mark of an overtaken call
      throw StoreException.overtaken();
    }
    return grant;
  }

  private long leaseDeadline() {
    return time.monotonicNanos() + leaseDeadlineNanos;
  }

  /** Sends a call; the answer to one with an id counts however late it arrives. */
  private <T> CompletionStage<T> submit(CounterCall<T> call) {
    redis.submit(call);
    return call.reply;
  }
}
