package io.throttlekit.service.store;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.FederatedLimiter;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.InMemoryEscrow;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.store.BackendState.Role;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The limits that this process shares with other regions. Thread-safe. */
final class Regions {
  private static final Budget PROBE_BUDGET = probeBudget();
  private static final Tier.Global PROBE_TIER =
      new Tier.Global(new LeaseSize.Fixed(1), 0, 0, PROBE_BUDGET.terms(), DataLoss.REFILL, false);

  /** End of a window in 1970: no units are leased from it, and nothing is written. */
  private static final long ENDED = PROBE_BUDGET.window().windowMillis();

  /** Maximum of calls that warm up the path to a backend: HotSpot then compiles a method. */
  private static final int MAX_CALLS = 200;

  /** Maximum of decisions that warm up the federated limiter: HotSpot then compiles its loops. */
  private static final int MAX_DECISIONS = 2_000;

  /** Maximum duration of each warm-up: a quarter of a second. */
  private static final long WARM_UP_NANOS = 250_000_000;

  private final String region;
  private final Backend<GlobalCoordinator> coordinator;
  private final @Nullable Backend<RegionalEscrow> escrow;

  /** The state of the coordinator. */
  final BackendState state;

  /** The source of leases of global limits. */
  final Federation federation;

  private final Clocks clocks;

  /**
   * Connects in the background.
   *
   * @param storeState of the region's own store, which holds the units that the region has leased
   */
  Regions(
      Backends backends,
      FederationConfig config,
      StoreConfig store,
      BackendState storeState,
      StoreListeners listeners) {
    this.region = config.region();
    this.state =
        BackendState.of(
            Role.COORDINATOR, config.coordinator(), listeners, _ -> {}, backends.time());
    this.coordinator = backends.coordinator(config, store, state);
    this.escrow = backends.escrow(store, storeState.ofFurtherConnections());
    this.clocks = new Clocks(backends.time(), backends.timer());
    this.federation =
        new Federation(
            listeners.traced(coordinator.api(), config.coordinator().toString()),
            escrow == null ? null : listeners.traced(escrow.api(), region),
            clocks,
            new FederationSettings(
                region,
                UUID.randomUUID().toString(),
                config.regionalLeases(),
                config.deadline().toMillis(),
                config.probeAfter().toMillis()),
            listeners.federation());
  }

  private static Budget probeBudget() {
    FixedWindow window = new FixedWindow(Cost.MAX, 10_000);
    return new Budget(CounterKey.of("start"), window, new Terms("start", List.of(window)));
  }

  /**
   * Waits until the coordinator has answered, then warms up the path to it. It is called as for
   * requests, with units of a window that ended long ago, so that nothing is written.
   *
   * @return whether the coordinator has answered
   */
  boolean awaitCoordinator(ReadinessProbe probe) throws InterruptedException {
    boolean answered = warmUp(coordinator, this::leaseNothing, probe);
    decide(probe.within(WARM_UP_NANOS));
    return answered;
  }

  /**
   * Waits until the region's escrow has answered, then warms up the path to it, with a counter that
   * does not exist, so that nothing is written.
   *
   * @return whether the escrow has answered; true where there is none
   */
  boolean awaitEscrow(ReadinessProbe probe) throws InterruptedException {
    Backend<RegionalEscrow> near = escrow;
    return near == null
        || warmUp(
            near,
            () -> near.ready().thenCompose(_ -> near.api().lease(PROBE_BUDGET.key(), 1)),
            probe);
  }

  /** Returns whether the backend has answered at least once. */
  private static boolean warmUp(
      Backend<?> backend, Supplier<CompletionStage<?>> call, ReadinessProbe probe)
      throws InterruptedException {
    boolean answered = probe.await(backend, call, 1, Long.MAX_VALUE);
    if (answered) {
      var _ = probe.within(WARM_UP_NANOS).await(backend, call, MAX_CALLS, Long.MAX_VALUE);
    }
    return answered;
  }

  private CompletionStage<?> leaseNothing() {
    BudgetLease nothing = new BudgetLease(PROBE_BUDGET, region, ENDED, 1, DataLoss.REFILL);
    return coordinator.ready().thenCompose(_ -> coordinator.api().lease(nothing));
  }

  /** Decides requests in memory as real ones are decided, each with a lease of its own. */
  private void decide(ReadinessProbe moment) throws InterruptedException {
    TimeSource time = clocks.time();
    InMemoryCoordinator own = new InMemoryCoordinator(time);
    Federation local =
        new Federation(
            own,
            new InMemoryEscrow(time),
            clocks,
            new FederationSettings(region, "start", 1, 1),
            FederationListener.NONE);
    TierSettings settings = new TierSettings(1, WARM_UP_NANOS, 0);
    Scheduler timer = clocks.timer();
    try (FederatedLimiter warm =
        new FederatedLimiter(local, time, timer, settings, TierListener.NONE)) {
      var _ =
          moment.await(
              new Backend<>(own),
              () ->
                  warm.charge(
                      PROBE_BUDGET.key(), PROBE_BUDGET.window(), PROBE_TIER, 1, Outage.DENY),
              MAX_DECISIONS,
              Long.MAX_VALUE);
    }
  }

  /** Returns a description for operators, without passwords. */
  String describe() {
    return "region " + region + ", coordinator " + state.describe();
  }

  /** Returns the coordinator and, where there is one, the region's escrow. */
  List<Backend<?>> backends() {
    return escrow == null ? List.of(coordinator) : List.of(coordinator, escrow);
  }
}
