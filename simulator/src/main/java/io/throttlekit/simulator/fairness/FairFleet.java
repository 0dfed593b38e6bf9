package io.throttlekit.simulator.fairness;

import io.throttlekit.DataLoss;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.InMemoryEscrow;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.simulator.fleet.VirtualTime;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.LeaseSource;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.OutcomeCallback;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.TieredClaim;
import io.throttlekit.tier.TieredOutcome;
import io.throttlekit.tier.Tiers;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The processes of a fleet, which decide requests by leased units in virtual time. Requests wait as
 * long as calls of the store or coordinator take. All times are whole ms, as the clock of a store
 * is: otherwise units would be spent up to 1 ms after their window.
 */
final class FairFleet implements Sharing.Run {
  private static final long MAX_COUNTERS = 1_000;

  /** Times of a message to the store of the region, and to the coordinator of all regions. */
  private static final long STORE_MILLIS = 1;

  private static final long COORDINATOR_MILLIS = 20;
  private static final long WAIT_MILLIS = 100;
  private static final int REGIONAL_LEASES = 2; // the default
  private static final long PROBE_MILLIS = 1_000;

  private final FairScenario scenario;
  private final FleetShape shape;
  private final VirtualTime time = new VirtualTime();
  private final Link link;
  private final SplittableRandom random = new SplittableRandom(1);
  private final List<Tiers> processes = new ArrayList<>();
  private final List<TieredClaim> claims;

  private FairFleet(FairScenario scenario, FleetShape shape, Division division) {
    this.scenario = scenario;
    this.shape = shape;
    this.link = new Link(time, shape.regions() == 1 ? STORE_MILLIS : COORDINATOR_MILLIS);
    this.claims =
        division.charges(scenario).stream()
            .map(charge ->
                new TieredClaim(
                    Role.ENFORCED,
                    List.of(charge),
                    DataLoss.REFILL,
                    shape.tier((FixedWindow) charge.algorithm()),
                    Outage.ERROR))
            .toList();
  }

  /** Starts the processes at time 0. */
  static FairFleet start(FairScenario scenario, FleetShape shape, Division division) {
    FairFleet fleet = new FairFleet(scenario, shape, division);
    fleet.start();
    return fleet;
  }

  private void start() {
    if (shape.regions() == 1) {
      CounterStore store = link.to(new InMemoryStore(time, MAX_COUNTERS));
      for (int i = 0; i < shape.processes(); i++) {
        processes.add(process(store, null));
      }
      return;
    }
    InMemoryCoordinator coordinator = new InMemoryCoordinator(time);
    CounterStore unused = new InMemoryStore(time, 1);
    for (int region = 0; region < shape.regions(); region++) {
      RegionalEscrow escrow = new InMemoryEscrow(time);
      for (int i = 0; i < shape.processes(); i++) {
        Federation federation =
            new Federation(
                link.to(coordinator),
                escrow,
                new Clocks(time, time),
                new FederationSettings(
                    "region-" + region, "process-" + i, REGIONAL_LEASES, WAIT_MILLIS, PROBE_MILLIS),
                FederationListener.NONE);
        processes.add(process(unused, federation));
      }
    }
  }

  private Tiers process(CounterStore store, @Nullable LeaseSource global) {
    TierSettings settings =
        new TierSettings(MAX_COUNTERS, TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS), 0);
    return new Tiers(store, global, time, time, settings, TierListener.NONE);
  }

  @Override
  public void request(int tenant, double nowMillis, LongConsumer admitted) {
    time.runUntil(TimeUnit.MILLISECONDS.toNanos((long) nowMillis));
    Answer answer = new Answer(admitted);
    TieredOutcome known =
        processes.get(process(tenant, nowMillis)).acquire(List.of(claims.get(tenant)), answer);
    if (known != null) {
      answer.decided(known);
    }
  }

  private int process(int tenant, double nowMillis) {
    int places = shape.regions() == 1 ? shape.processes() : shape.regions();
    int place = shape.spread().place(tenant, nowMillis, scenario.windowMillis(), places, random);
    return shape.regions() == 1
        ? place
        : place * shape.processes() + random.nextInt(shape.processes());
  }

  @Override
  public int reservedWindows() {
    return shape.regions() == 1 ? 1 : 2; // the next window is leased ahead, as if by a request
  }

  @Override
  public long calls() {
    return link.calls();
  }

  /** Passes on an admission. A request that fails or waits too long is refused. */
  private final class Answer implements OutcomeCallback {
    private final LongConsumer admitted;

    Answer(LongConsumer admitted) {
      this.admitted = admitted;
    }

    @Override
    public void decided(TieredOutcome outcome) {
      if (outcome.admitted()) {
        // The store may have counted a request that waited in the window before the answer's.
        long endMillis = time.wallMillis() + outcome.decisions().getFirst().resetAfterMillis();
        admitted.accept(endMillis - scenario.windowMillis() / 2);
      }
    }

    @Override
    public void failed(StoreException cause) {}
  }
}
