package io.throttlekit.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairPool;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.SlidingLog;
import io.throttlekit.rate.Transition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counters in this process's memory: exact under concurrency, and bounded by a number of counters
 * of usual size.
 *
 * <p>Keys have at most 128 bytes, and the counter of a sliding log or of many tenants weighs more,
 * so memory is bounded, too: by about 400 bytes per counter of usual size, or by sixteen of the
 * heaviest counters if that is more.
 *
 * <p>A counter expires some time after it has returned to its unused state. When there are too
 * many, the least useful one is evicted (Caffeine's W-TinyLFU keeps frequently used ones), and
 * {@link #forgotten()} counts it if it still counted something. It restarts as unused. So the
 * limits are exact while that count is 0 and no wall clock steps back into a window whose counter
 * has expired, which is at least 1 s after the window's end.
 *
 * <p>Thread-safe. Charges of one counter are serialized; charges of different counters do not wait
 * for each other. The cache is never called while a counter is locked.
 */
public final class InMemoryStore implements CounterStore {
  /**
   * The attempts of a request whose counters are evicted between look-up and charge; then it
   * continues without them.
   */
  private static final int MAX_ATTEMPTS = 8;

  /**
   * Within this time of its expiry, a counter is looked up in the cache, so that Caffeine extends
   * it.
   */
  private static final long CACHE_DECIDES_MILLIS = 500;

  /**
   * Log entries per unit of weight: a log's buffer, which grows fourfold, takes up to 64 bytes per
   * charge, so four take less than a counter's 400 bytes.
   */
  private static final long LOG_ENTRIES = 4;

  /**
   * Divides the store: no counter weighs more than a sixteenth of it, because one that is heavier
   * than the store would be evicted at once.
   */
  private static final long MAX_WEIGHT_PART = 16;

  private final TimeSource time;
  private final Cache<CounterKey, Counter> counters;
  private final Policy.VarExpiration<CounterKey, Counter> expiration;
  private final RecentKeys<Counter> recent = new RecentKeys<>();

  /** The records of calls with an id, by counter. */
  private final Cache<CounterKey, CallRecords> calls;

  private final AtomicLong created = new AtomicLong();
  private final LongAdder forgotten = new LongAdder();

  /**
   * Creates an empty store.
   *
   * @param time the clock of all windows
   * @param maxCounters the most counters of usual size, from 1
   * @throws IllegalArgumentException when {@code maxCounters} is below 1
   */
  public InMemoryStore(TimeSource time, long maxCounters) {
    if (maxCounters < 1) {
      throw new IllegalArgumentException("maxCounters must be at least 1, was " + maxCounters);
    }
    this.time = time;
    this.counters =
        Caffeine.newBuilder()
            .maximumWeight(maxCounters)
            .weigher((CounterKey _, Counter counter) -> weight(counter, maxCounters))
            .expireAfter(new Lifetime())
            .ticker(time::monotonicNanos)
            .evictionListener(
                (@Nullable CounterKey key, @Nullable Counter counter, RemovalCause cause) ->
                    forget(counter))
            .executor(Runnable::run) // evictions run on the calling thread
            .build();
    this.calls = Caffeine.newBuilder().maximumSize(maxCounters).executor(Runnable::run).build();
    this.expiration = counters.policy().expireVariably().orElseThrow();
  }

  /** Returns the weight of a counter by its possible memory, in counters of usual size. */
  private static int weight(Counter counter, long maxCounters) {
    long weight = 1L + counter.room();
    if (counter.algorithm() instanceof SlidingLog log) {
      weight += log.limit() / LOG_ENTRIES;
    }
    int heaviest = Math.clamp(maxCounters / MAX_WEIGHT_PART, 1, Integer.MAX_VALUE);
    return Math.clamp(weight, 1, heaviest); // Caffeine weighs in int
  }

  /** Decides and counts one charge, synchronously. */
  public Decision decide(Charge charge) {
    return decide(charge, time.wallMillis());
  }

  private Decision decide(Charge charge, long now) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      Counter counter = known(charge.key(), now);
      if (counter == null) {
        Transition<?> first = Counter.transition(charge, null, now);
        boolean activates = charge.tenant() != null && charge.cost() > 0; // admitted or not
        if (first.state() == null && !activates) {
          return first.decision(); // an unused counter needs no memory
        }
        counter = counter(charge, now);
      }
      Decision decision = counter.charge(charge, now);
      if (decision != null) {
        keep(counter, charge, decision.resetAfterMillis(), now);
        return decision;
      }
      recent.drop(charge.key());
      Thread.onSpinWait();
    }
    forgotten.increment();
    return Counter.transition(charge, null, now).decision();
  }

  /**
   * Decides and counts the claims of one request together, synchronously. Counters that are unknown
   * and stay unused are not stored, because they would evict others that count.
   */
  public Outcome decide(List<Claim> claims) {
    if (claims.size() == 1 && claims.getFirst().charges().size() == 1) {
      Claim only = claims.getFirst();
      Decision decision = decide(only.charges().getFirst());
      // A single quota refuses like an enforced claim.
      boolean admitted = decision.admitted() || only.role() == Claim.Role.SHADOW;
      return new Outcome(admitted, List.of(decision));
    }
    long now = time.wallMillis();
    Settlement settlement = new Settlement(claims, now, Denial.NO_LOSS);
    Map<CounterKey, Counter> lost = Map.of();
    // A second attempt would find the tenants active that the first one has charged.
    boolean once = settlement.chargesSeveralTenants();
    for (int attempt = 0; ; attempt++) {
      lookUp(settlement, once || attempt > 0, now);
      if (attempt >= MAX_ATTEMPTS) {
        lost = lost.isEmpty() ? new HashMap<>() : lost;
        standInForRetired(settlement, lost, now);
      }
      Outcome outcome = settlement.settle();
      if (outcome != null) {
        for (int i = 0; i < settlement.size(); i++) {
          long resetAfter = outcome.decisions().get(i).resetAfterMillis();
          keep(settlement.counter(i), settlement.charge(i), resetAfter, now);
        }
        forgotten.add(lost.size());
        return outcome;
      }
      for (int i = 0; i < settlement.size(); i++) {
        if (settlement.counter(i).isRetired()) {
          recent.drop(settlement.charge(i).key());
        }
      }
      Thread.onSpinWait();
    }
  }

  private void lookUp(Settlement settlement, boolean create, long now) {
    for (int i = 0; i < settlement.size(); i++) {
      Charge charge = settlement.charge(i);
      Counter known = create ? counter(charge, now) : known(charge.key(), now);
      if (known != null) {
        settlement.use(i, known);
      } else {
        settlement.standIn(i, create(charge, now));
      }
    }
  }

  /**
   * Gives a request that needs more counters than the store holds temporary counters in place of
   * the evicted ones; they are dropped with it.
   */
  private void standInForRetired(Settlement settlement, Map<CounterKey, Counter> lost, long now) {
    for (int i = 0; i < settlement.size(); i++) {
      Charge charge = settlement.charge(i);
      Counter own = lost.get(charge.key());
      if (own == null && settlement.counter(i).isRetired()) {
        own = create(charge, now);
        lost.put(charge.key(), own);
      }
      if (own != null) {
        settlement.use(i, own);
      }
    }
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    return CompletableFuture.completedFuture(decide(claims));
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    long now = time.wallMillis();
    CallId id = request.id();
    if (id == null) {
      return CompletableFuture.completedFuture(grant(request, now));
    }
    CallRecords records = records(request.callKey());
    synchronized (records) { // a concurrent copy waits for the answer
      return CallRecords.stage(() -> {
        long window = request.window().endMillis(now);
        long units = records.once(id, window, () -> grant(request, now).units());
        return Leasing.granted(request, units, now, charge -> decide(charge, now));
      });
    }
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    long now = time.wallMillis();
    CallRecords records = records(lease.callKey());
    synchronized (records) { // as in lease()
      return CallRecords.stage(() ->
              records.once(
                  lease.id(),
                  lease.window().endMillis(now),
                  () -> {
                    returnUnits(lease, windowEndMillis, units, now);
                    return units;
                  }))
          .thenApply(_ -> null);
    }
  }

  private void returnUnits(LeaseRequest lease, long windowEndMillis, long units, long now) {
    FairTenant tenant = lease.tenant();
    if (tenant == null) {
      Leasing.returnUnits(lease, windowEndMillis, units, now, charge -> decide(charge, now));
      return;
    }
    Counter counter = known(lease.key(), now);
    if (counter != null) {
      counter.refund(tenant, units, windowEndMillis, now);
    }
  }

  private LeaseGrant grant(LeaseRequest request, long now) {
    FairTenant tenant = request.tenant();
    if (tenant == null) {
      return Leasing.grant(request, now, charge -> decide(charge, now));
    }
    Charge first = request.charge(1, Overrun.REFUSE); // activates the tenant
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      Counter counter = counter(first, now);
      LeaseGrant grant = counter.lease(request, tenant, now);
      if (grant != null) {
        keep(counter, first, grant.windowEndMillis() - now, now);
        return grant;
      }
      recent.drop(request.key());
      Thread.onSpinWait();
    }
    forgotten.increment();
    return Leasing.ofTenant(new FairPool(tenant.terms()), request, tenant, now);
  }

  private CallRecords records(CounterKey key) {
    return calls.get(key, _ -> new CallRecords());
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    Counter counter = counters.asMap().remove(key);
    if (counter != null) {
      counter.retire(time.wallMillis());
      recent.drop(key);
    }
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<Void> resetTenant(CounterKey key, FairTenant tenant) {
    Counter counter = counters.getIfPresent(key);
    if (counter != null) {
      counter.resetTenant(tenant);
    }
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void close() {}

  /** Returns the number of counters, after expired ones have been removed. */
  public long size() {
    counters.cleanUp();
    return counters.estimatedSize();
  }

  /** Returns how many counters were evicted while they still counted something. */
  public long forgotten() {
    return forgotten.sum();
  }

  private Counter counter(Charge charge, long now) {
    Counter known = known(charge.key(), now);
    if (known != null) {
      return known;
    }
    recent.makeRoomFor(counters.estimatedSize() + 1);
    return counters.get(charge.key(), key -> create(charge, now));
  }

  private @Nullable Counter known(CounterKey key, long now) {
    Counter counter = recent.find(key);
    if (counter == null || now >= counter.keptUntilMillis() - CACHE_DECIDES_MILLIS) {
      counter = counters.getIfPresent(key);
      if (counter != null) {
        recent.put(counter);
      }
    }
    return counter;
  }

  private Counter create(Charge charge, long now) {
    long keptUntil = Lifetime.firstDate(now, charge.algorithm().windowMillis());
    return new Counter(charge.key(), created.incrementAndGet(), charge.algorithm(), keptUntil);
  }

  /** Extends the expiry of a counter so that it outlives what it counts. */
  private void keep(Counter counter, Charge charge, long resetAfterMillis, long now) {
    if (charge.tenant() != null) {
      weigh(counter);
    }
    if (!Lifetime.extend(
        counter, unusedAt(charge, resetAfterMillis, now), charge.algorithm().windowMillis())) {
      return;
    }
    // Of two threads, the one with the earlier expiry may write last; it then sees the later
    // expiry.
    long until;
    do {
      until = counter.keptUntilMillis();
      expiration.setExpiresAfter(charge.key(), until - now, TimeUnit.MILLISECONDS);
    } while (until != counter.keptUntilMillis());
  }

  /** Lets the cache weigh a counter again whose tenants have become twice as many. */
  private void weigh(Counter counter) {
    int room = counter.room();
    if (room > counter.weighedRoom) {
      counter.weighedRoom = room;
      counters.asMap().computeIfPresent(counter.key(), (_, known) -> known);
    }
  }

  private static long unusedAt(Charge charge, long resetAfterMillis, long now) {
    // Tenants of this window keep their reserve during the next one.
    long reserved = charge.tenant() == null ? 0 : charge.algorithm().windowMillis();
    return now + resetAfterMillis + reserved;
  }

  private void forget(@Nullable Counter counter) {
    if (counter == null) {
      return;
    }
    if (counter.retire(time.wallMillis())) {
      forgotten.increment();
    }
    recent.drop(counter.key());
  }
}
