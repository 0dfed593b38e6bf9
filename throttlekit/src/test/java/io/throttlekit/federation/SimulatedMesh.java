package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.SimulatedLink.LinkCounts;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Regions of one federation, their replicas and networks, in simulated time. For one thread. */
final class SimulatedMesh {
  private static final long MILLI = 1_000_000;
  private static final long START = 1_700_000_000_000L;
  private static final CounterKey KEY = CounterKey.of("shop/global", "user", "a");

  final SimulatedWorld world = new SimulatedWorld();
  final TreeMap<Long, Long> admitted = new TreeMap<>();
  final Counted counted = new Counted();
  final List<Region> regions = new ArrayList<>();
  private final SplittableRandom random;
  private final Plan plan;
  private final TimeSource coordinatorClock;
  private final InMemoryCoordinator coordinator;
  private final FixedWindow window;
  private final Tier.Global tier;
  private int incarnations;

  /** Requests that were not decided at once. */
  long waits;

  /**
   * The simulated configuration.
   *
   * @param batch size of a lease; 0 for an adaptive size
   * @param skewed whether the hosts' clocks differ, in time and in rate
   * @param regionalOnly whether a coordinator that does not answer receives only probes
   */
  record Plan(
      int regions,
      int processes,
      boolean escrows,
      long limit,
      long batch,
      long windowMillis,
      int regionalLeases,
      SimulatedLink.LinkProperties near,
      SimulatedLink.LinkProperties far,
      boolean skewed,
      boolean regionalOnly) {}

  /** Counts of events, to check that a run includes them. */
  static final class Counted implements TierListener, FederationListener {
    /** Calls to the coordinator. */
    long leases;

    long returns;

    final LinkCounts far = new LinkCounts();
    final LinkCounts refills = new LinkCounts();
    final LinkCounts near = new LinkCounts();
    long partial;
    long late;
    long forfeited;
    long refilled;
    long fromEscrow;
    long returned;
    long failed;
    long leftAlone;

    /** Returns the round trips to the coordinator, without probes. */
    long trips() {
      return leases + returns;
    }

    @Override
    public void lateGrant(long units) {
      late += units;
    }

    @Override
    public void forfeited(long units) {
      forfeited += units;
    }

    @Override
    public void refilled(long units) {
      refilled += units;
    }

    @Override
    public void leasedFromEscrow(long wanted, long granted) {
      fromEscrow += granted;
    }

    @Override
    public void leasedFromCoordinator(long wanted, long granted) {
      partial += granted > 0 && granted < wanted ? 1 : 0;
    }

    @Override
    public void coordinatorFailed(String failureReason) {
      failed++;
    }

    @Override
    public void coordinatorBreakerOpen() {
      leftAlone++;
    }

    @Override
    public void returned(long units, boolean taken) {
      returned += taken ? units : 0;
    }
  }

  SimulatedMesh(Plan plan, long seed) {
    this.plan = plan;
    this.random = new SplittableRandom(seed);
    this.coordinatorClock = clock();
    this.coordinator = new InMemoryCoordinator(coordinatorClock);
    this.window = new FixedWindow(plan.limit(), plan.windowMillis());
    this.tier =
        new Tier.Global(
            plan.batch() > 0 ? new LeaseSize.Fixed(plan.batch()) : new LeaseSize.Adaptive(),
            0,
            plan.windowMillis() / 2,
            new Terms("shop", List.of(window)),
            DataLoss.REFILL,
            plan.regionalOnly());
    for (int r = 0; r < plan.regions(); r++) {
      regions.add(new Region("r" + r));
    }
  }

  private TimeSource clock() {
    long wall = plan.skewed() ? START + random.nextLong(-100_000, 100_000) : START;
    long fast = plan.skewed() ? random.nextLong(-450, 451) : 0;
    return world.clock(wall, fast);
  }

  /** Returns the current window by the coordinator's clock. */
  long windowNow() {
    return Math.floorDiv(coordinatorClock.wallMillis(), plan.windowMillis());
  }

  /** One region. */
  final class Region {
    final String name;
    final SimulatedLink toCoordinator;
    final List<Replica> replicas = new ArrayList<>();
    private final TimeSource escrowClock = clock();
    private @Nullable RegionalEscrow escrow;

    Region(String name) {
      this.name = name;
      this.toCoordinator = new SimulatedLink(world, random.split(), plan.far());
      this.escrow = plan.escrows() ? new InMemoryEscrow(escrowClock) : null;
      for (int p = 0; p < plan.processes(); p++) {
        replicas.add(new Replica(this));
      }
    }

    /** Loses all data of its escrow. */
    void loseEscrow() {
      escrow = plan.escrows() ? new InMemoryEscrow(escrowClock) : null;
    }

    /** Returns the difference between its escrow's clock and the coordinator's, in ms. */
    long skewMillis() {
      return Math.abs(escrowClock.wallMillis() - coordinatorClock.wallMillis());
    }

    RegionalEscrow escrow() {
      RegionalEscrow now = escrow;
      if (now == null) {
        throw new IllegalStateException("no escrows are simulated");
      }
      return now;
    }
  }

  /** One process of a region. */
  final class Replica {
    private final Region region;
    private FederatedLimiter limiter;
    private int incarnation;

    Replica(Region region) {
      this.region = region;
      this.limiter = start();
    }

    /** Crashes, and starts again. */
    void crash() {
      incarnation++;
      limiter = start();
    }

    /** Shuts down, and starts again. */
    void restart() {
      limiter.close();
      crash();
    }

    /** Sends requests at equal intervals until the simulation ends. */
    void evenly(long firstNanos, long everyNanos) {
      world.after(
          firstNanos,
          () -> {
            request(1);
            evenly(everyNanos, everyNanos);
          });
    }

    void request(long cost) {
      int asked = incarnation;
      long at = world.nowNanos();
      limiter
          .charge(KEY, window, tier, cost, Outage.DENY)
          .whenComplete((decision, _) -> {
            waits += world.nowNanos() > at ? 1 : 0;
            if (decision != null && decision.admitted() && asked == incarnation) {
              count(decision, cost);
            }
          });
    }

    private FederatedLimiter start() {
      TimeSource time = clock();
      SimulatedLink near = new SimulatedLink(world, random.split(), plan.near());
      Federation federation =
          new Federation(
              new FarCoordinator(coordinator, region.toCoordinator, counted),
              plan.escrows() ? new FarEscrow(region, near, counted) : null,
              new Clocks(time, world::after),
              new FederationSettings(
                  region.name, "p" + incarnations++, plan.regionalLeases(), 5_000),
              counted);
      return new FederatedLimiter(
          federation, time, world::after, new TierSettings(100, 15 * MILLI, 0.5), counted);
    }
  }

  private void count(Decision decision, long cost) {
    if (decision.limit() != plan.limit()) {
      throw new IllegalStateException("a limit of " + decision.limit());
    }
    admitted.merge(windowNow(), cost, Long::sum);
  }

  private record FarCoordinator(GlobalCoordinator far, SimulatedLink link, Counted counted)
      implements GlobalCoordinator {
    @Override
    public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
      counted.leases++;
      return link.callWithoutDeadline(counted.far, () -> far.lease(lease));
    }

    @Override
    public CompletionStage<Boolean> reconcile(BudgetReturn units) {
      counted.returns++;
      return link.callWithoutDeadline(counted.far, () -> far.reconcile(units));
    }

    @Override
    public CompletionStage<Long> health() {
      return link.call(counted.far, far::health);
    }

    @Override
    public void close() {}
  }

  private record FarEscrow(Region region, SimulatedLink link, Counted counted)
      implements RegionalEscrow {
    @Override
    public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
      return link.callWithoutDeadline(counted.near, () -> region.escrow().lease(key, units, id));
    }

    @Override
    public CompletionStage<Boolean> refill(EscrowRefill refill) {
      return link.callWithoutDeadline(counted.refills, () -> region.escrow().refill(refill));
    }

    @Override
    public CompletionStage<Long> release(
        CounterKey key, long windowEndMillis, @Nullable CallId id) {
      return link.callWithoutDeadline(
          counted.near, () -> region.escrow().release(key, windowEndMillis, id));
    }

    @Override
    public CompletionStage<Long> health() {
      return link.call(counted.near, () -> region.escrow().health());
    }

    @Override
    public void close() {}
  }
}
