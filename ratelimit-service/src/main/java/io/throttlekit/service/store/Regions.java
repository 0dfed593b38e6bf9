package io.throttlekit.service.store;

import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Tracer;
import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.FederatedLimiter;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.store.BackendState.Role;
import io.throttlekit.service.telemetry.FederationMetrics;
import io.throttlekit.service.telemetry.StoreMetrics;
import io.throttlekit.service.telemetry.TracedCoordinator;
import io.throttlekit.service.telemetry.TracedEscrow;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.LeaseSize;
import io.throttlekit.tier.LeaseSource;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.Tier;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Timer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What this process shares with other regions. Thread-safe. */
final class Regions {
  private static final Budget NOBODYS = nobodys();
  private static final Tier.Global NOBODYS_TIER =
      new Tier.Global(new LeaseSize.Fixed(1), 0, 0, NOBODYS.terms(), DataLoss.REFILL, false);
  private static final int MOST_DECISIONS = 200;
  private static final long WARM_UP_NANOS = 250_000_000;

  private final String region;
  private final Backend<GlobalCoordinator> coordinator;
  private final @Nullable Backend<RegionalEscrow> escrow;
  private final BackendState state;
  private final Federation federation;
  private final TimeSource time;

  private Regions(
      FederationConfig config,
      Backend<GlobalCoordinator> coordinator,
      @Nullable Backend<RegionalEscrow> escrow,
      BackendState state,
      Clocks clocks,
      Meter meter,
      Tracer tracer) {
    this.region = config.region();
    this.coordinator = coordinator;
    this.escrow = escrow;
    this.state = state;
    this.time = clocks.time();
    this.federation =
        new Federation(
            new TracedCoordinator(coordinator.api(), config.coordinator().toString(), tracer),
            escrow == null ? null : new TracedEscrow(escrow.api(), config.region(), tracer),
            clocks,
            new FederationSettings(
                config.region(),
                UUID.randomUUID().toString(),
                config.regionalLeases(),
                config.deadline().toMillis(),
                config.probeAfter().toMillis()),
            new FederationMetrics(meter));
  }

  private static Budget nobodys() {
    FixedWindow window = new FixedWindow(Cost.MAX, 10_000);
    return new Budget(CounterKey.of("start"), window, new Terms("start", List.of(window)));
  }

  /**
   * Connects in the background.
   *
   * @param storeState of the region's own store, which keeps what the region has leased
   */
  static Regions connect(
      Backends backends,
      FederationConfig config,
      StoreConfig store,
      BackendState storeState,
      Meter meter,
      Tracer tracer) {
    BackendState state =
        config.coordinator().inMemory()
            ? BackendState.here(Role.COORDINATOR, backends.time())
            : new BackendState(
                Role.COORDINATOR,
                config.coordinator().toString(),
                StoreMetrics.ofCoordinator(meter),
                _ -> {},
                backends.time());
    return new Regions(
        config,
        backends.coordinator(config, store, state),
        backends.escrow(store, storeState.ofEscrow()),
        state,
        new Clocks(backends.time(), backends.timer()::runAfter),
        meter,
        tracer);
  }

  /** Where units are leased that all regions share. */
  LeaseSource leases() {
    return federation;
  }

  /**
   * Waits until the coordinator has answered, having asked it for what nobody shares; then has
   * requests for as much decided for a moment, as those of others will be, so that they are fast
   * before others come. Of a coordinator that is far away that is few, for each lease is written
   * there.
   *
   * @return whether it has
   */
  boolean answer(Greeting greeting, Timer timer) throws InterruptedException {
    if (!greeting.await(coordinator, this::greet, 1, Long.MAX_VALUE)) {
      return false;
    }
    TierSettings settings = new TierSettings(1, WARM_UP_NANOS, 0);
    Greeting moment = greeting.within(WARM_UP_NANOS);
    try (FederatedLimiter warm =
        new FederatedLimiter(federation, time, timer, settings, TierListener.NONE)) {
      var _ = moment.await(coordinator, () -> decide(warm), MOST_DECISIONS, Long.MAX_VALUE);
    }
    return true;
  }

  /** Each time it has to lease, as it has no use for more than it spends. */
  private static CompletionStage<?> decide(FederatedLimiter limiter) {
    return limiter.charge(NOBODYS.key(), NOBODYS.window(), NOBODYS_TIER, 1, Outage.DENY);
  }

  private CompletionStage<?> greet() {
    BudgetLease nothing = new BudgetLease(NOBODYS, region, BudgetLease.CURRENT, 1, DataLoss.REFILL);
    CompletionStage<?> near =
        escrow == null
            ? CompletableFuture.completedFuture(true)
            : escrow.ready().get().thenCompose(_ -> escrow.api().lease(NOBODYS.key(), 1));
    return near.thenCompose(_ -> coordinator.ready().get())
        .thenCompose(_ -> coordinator.api().lease(nothing));
  }

  /** Warns where the coordinator may lose what a rule of these policies relies on. */
  void policiesLoaded(PolicyBook book) {
    state.policiesLoaded(book);
  }

  void whenDataIsLost(Runnable forget) {
    state.whenDataIsLost(forget);
  }

  /** For people, without passwords. */
  String inWords() {
    return "region " + region + ", coordinator " + state.inWords();
  }

  /** The coordinator, and where this region keeps what it has leased. */
  List<Backend<?>> backends() {
    return escrow == null ? List.of(coordinator) : List.of(coordinator, escrow);
  }
}
