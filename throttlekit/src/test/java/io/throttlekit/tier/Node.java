package io.throttlekit.tier;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One process of a fleet, with its own clock and timer. For one thread. */
public final class Node {
  static final long PATIENCE_MILLIS = 5;

  final ManualTime time;
  final ManualScheduler timer;
  final Counted counted = new Counted();
  final Tiers tiers;

  Node(HeldStore store) {
    this(store, new ManualTime(0), 1_000);
  }

  Node(CounterStore store, ManualTime time, long maxCells) {
    this(store, null, time, maxCells);
  }

  Node(CounterStore store, @Nullable LeaseSource global, ManualTime time, long maxCells) {
    this.time = time;
    this.timer = new ManualScheduler(time);
    this.tiers =
        new Tiers(
            store,
            global,
            time,
            timer,
            new TierSettings(maxCells, TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS), 0.5),
            counted);
  }

  /** The reply to one request, when there is one. */
  static final class Reply implements OutcomeCallback {
    @Nullable TieredOutcome outcome;
    @Nullable StoreException failure;
    private final long waitTimeoutNanos;

    Reply() {
      this(Long.MAX_VALUE);
    }

    Reply(long waitTimeoutNanos) {
      this.waitTimeoutNanos = waitTimeoutNanos;
    }

    @Override
    public long waitTimeoutNanos() {
      return waitTimeoutNanos;
    }

    @Override
    public void decided(TieredOutcome decided) {
      check();
      outcome = decided;
    }

    @Override
    public void failed(StoreException cause) {
      check();
      failure = cause;
    }

    boolean isThere() {
      return outcome != null || failure != null;
    }

    boolean admitted() {
      return outcome().admitted();
    }

    TieredOutcome outcome() {
      if (outcome == null) {
        throw new IllegalStateException("no answer", failure);
      }
      return outcome;
    }

    Decision decision() {
      return outcome().decisions().getFirst();
    }

    DecidedBy decidedBy() {
      return outcome().decidedBy().getFirst();
    }

    private void check() {
      if (isThere()) {
        throw new IllegalStateException("answered twice");
      }
    }
  }

  /** Counts of a listener's events. */
  static final class Counted implements TierListener {
    long leased;
    long riders;
    long refills;
    long unitsReturned;
    long forfeited;
    long late;
    long failed;
    long suspensions;
    final List<Outage> outages = new ArrayList<>();

    @Override
    public void leased(long wanted, long granted) {
      leased += granted;
    }

    @Override
    public void leaseFailed() {
      failed++;
    }

    @Override
    public void suspended() {
      suspensions++;
    }

    @Override
    public void waiterJoined() {
      riders++;
    }

    @Override
    public void refillAhead() {
      refills++;
    }

    @Override
    public void unitsReturned(long units) {
      unitsReturned += units;
    }

    @Override
    public void forfeited(long units) {
      forfeited += units;
    }

    @Override
    public void lateGrant(long units) {
      late += units;
    }

    @Override
    public void outage(Outage kind) {
      outages.add(kind);
    }
  }

  Reply ask(TieredClaim... claims) {
    return ask(new Reply(), claims);
  }

  Reply ask(Reply reply, TieredClaim... claims) {
    TieredOutcome now = tiers.acquire(List.of(claims), reply);
    if (now != null) {
      reply.decided(now);
    }
    return reply;
  }

  /** Returns how many of {@code requests} are admitted; each must be decided at once. */
  int admitted(int requests, TieredClaim claim) {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += ask(claim).admitted() ? 1 : 0;
    }
    return admitted;
  }

  static Tier.Leased batches(long size) {
    return new Tier.Leased(new LeaseSize.Fixed(size), true, 0, 0);
  }

  static TieredClaim leased(FixedWindow window, long size, long cost) {
    return claim(Role.ENFORCED, batches(size), "user", window, cost);
  }

  static TieredClaim claim(
      Role role, Tier tier, String user, RateAlgorithm<?> algorithm, long cost) {
    return claim(role, tier, Outage.ERROR, user, algorithm, cost);
  }

  static TieredClaim claim(
      Role role, Tier tier, Outage outage, String user, RateAlgorithm<?> algorithm, long cost) {
    Charge charge = new Charge(key(user), algorithm, cost, Overrun.REFUSE);
    return new TieredClaim(new Claim(role, List.of(charge), DataLoss.REFILL), tier, outage);
  }

  public static Charge charge(String user, RateAlgorithm<?> algorithm) {
    return new Charge(key(user), algorithm, 1, Overrun.REFUSE);
  }

  public static CounterKey key(String user) {
    return CounterKey.of("shop", "user", user);
  }
}
