package io.throttlekit.service.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.InMemoryEscrow;
import io.throttlekit.once.Clocks;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tenants that share a limit, by the tiers of several processes. */
class FairShareTiersTest {
  private static final long MINUTE = 60_000;
  private static final long QUANTUM = 3;
  private static final PolicyBook BOOK =
      Book.of(
          """
          domain: d
          descriptors:
            - key: leased
              rate_limit: {LIMIT, tier: leased, lease: {size: 3}, SHARE}
            - key: global
              rate_limit: {LIMIT, scope: global, lease: {size: 3}, SHARE}
            - {key: cached, rate_limit: {LIMIT, tier: cached_deny, SHARE}}
            - {key: local, rate_limit: {LIMIT, on_outage: local, SHARE}}
          """
              .replace("LIMIT", "unit: minute, requests_per_unit: 70")
              .replace(
                  "SHARE",
                  "fair_share: {tenant: org, weight_entry: plan, weights: {gold: 4, silver: 2,"
                      + " bronze: 1}}"));

  private final ManualTime time = new ManualTime(28_333_334 * MINUTE);
  private final InMemoryStore store = new InMemoryStore(time, 10_000);
  private final InMemoryCoordinator coordinator = new InMemoryCoordinator(time);

  @Test
  void twoProcessesThatLeaseLeaveEachTenantItsGuaranteeLessAQuantumOfEach() {
    check("leased", process(store), process(store));
  }

  @Test
  void twoRegionsLeaveEachTenantItsGuaranteeLessAQuantumOfEach() {
    check("global", region("eu"), region("us"));
  }

  private void check(String key, PolicyAdmission one, PolicyAdmission other) {
    for (String plan : List.of("gold", "silver", "bronze")) {
      assertThat(admitted(1, one, key, plan) + admitted(1, other, key, plan)).isEqualTo(2);
    }
    for (int window = 0; window < 3; window++) {
      time.advance(MINUTE);
      long bronze = admitted(300, one, key, "bronze");
      long gold = admitted(100, other, key, "gold");
      long silver = admitted(50, one, key, "silver") + admitted(50, other, key, "silver");
      bronze += admitted(300, other, key, "bronze");
      assertThat(gold).isGreaterThanOrEqualTo(40 - 2 * QUANTUM);
      assertThat(silver).isGreaterThanOrEqualTo(20 - 2 * QUANTUM);
      assertThat(bronze).isGreaterThanOrEqualTo(10 - 2 * QUANTUM);
      assertThat(gold + silver + bronze).isLessThanOrEqualTo(70);
    }
  }

  @Test
  void aLeasedVerdictShowsTheTenantsLimit() {
    PolicyAdmission process = process(store);
    for (String plan : List.of("gold", "silver", "bronze", "gold")) {
      assertThat(ask(process, "leased", plan).answer().admitted()).isTrue();
    }
    time.advance(MINUTE);
    Verdict verdict = ask(process, "leased", "gold").verdict();
    assertThat(verdict.decidedBy()).isEqualTo(DecidedBy.LEASE);
    assertThat(verdict.requestsPerUnit()).isEqualTo(40);
    assertThat(verdict.remaining()).isEqualTo(39);
    assertThat(admitted(100, process, "leased", "bronze")).isEqualTo(10);
    Verdict refused = ask(process, "leased", "bronze").verdict();
    assertThat(refused.refused()).isTrue();
    assertThat(refused.requestsPerUnit()).isEqualTo(10);
  }

  @Test
  void aCachedRefusalIsThatOfOneTenant() {
    PolicyAdmission process = process(store);
    for (String plan : List.of("gold", "silver", "bronze")) {
      assertThat(ask(process, "cached", plan).answer().admitted()).isTrue();
    }
    assertThat(admitted(100, process, "cached", "bronze")).isEqualTo(9);
    assertThat(ask(process, "cached", "bronze").verdict().decidedBy())
        .isEqualTo(DecidedBy.CACHED_DENIAL);
    assertThat(admitted(100, process, "cached", "gold")).isEqualTo(39);
  }

  @Test
  void inAnOutageTheLocalPartIsDivided() {
    PolicyAdmission process = process(failing());
    for (String plan : List.of("gold", "silver", "bronze")) {
      assertThat(ask(process, "local", plan).answer().admitted()).isTrue();
    }
    assertThat(admitted(100, process, "local", "bronze")).as("1 / 7 of 35").isEqualTo(4);
    assertThat(admitted(100, process, "local", "silver")).isEqualTo(9);
    assertThat(admitted(100, process, "local", "gold")).isEqualTo(19);
    assertThat(ask(process, "local", "gold").verdict().requestsPerUnit()).isEqualTo(20);
  }

  private PolicyAdmission process(CounterStore at) {
    TierSettings settings = new TierSettings(1_000, 1_000_000, .5);
    return admission(new Tiers(at, time, (_, _) -> {}, settings, TierListener.NONE));
  }

  private PolicyAdmission region(String name) {
    Clocks clocks = new Clocks(time, (_, _) -> {});
    Federation federation =
        new Federation(
            coordinator,
            new InMemoryEscrow(time),
            clocks,
            new FederationSettings(name, name + "-1", 1, 1_000),
            FederationListener.NONE);
    TierSettings settings = new TierSettings(1_000, 1_000_000, 1);
    return admission(new Tiers(store, federation, time, (_, _) -> {}, settings, TierListener.NONE));
  }

  private PolicyAdmission admission(Tiers tiers) {
    return new PolicyAdmission(
        () -> BOOK, tiers, Setup.gate(time), Setup.NATIVE, false, Setup.metrics(() -> BOOK, store));
  }

  /** Returns a store that does not answer. */
  private static CounterStore failing() {
    return (CounterStore)
        Proxy.newProxyInstance(
            CounterStore.class.getClassLoader(),
            new Class<?>[] {CounterStore.class},
            (_, method, _) ->
                method.getReturnType() == void.class
                    ? null
                    : CompletableFuture.failedFuture(new StoreException("gone", null)));
  }

  private static long admitted(int requests, PolicyAdmission at, String key, String plan) {
    long admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += ask(at, key, plan).answer().admitted() ? 1 : 0;
    }
    return admitted;
  }

  private static RecordingCallback ask(PolicyAdmission at, String key, String plan) {
    String[] entries = {key, "v", "org", "of-" + plan, "plan", plan};
    Descriptor descriptor = new Descriptor(entries, null, Descriptor.HITS_UNSET, false);
    return RecordingCallback.of(at, new RateLimitRequest("d", List.of(descriptor), 1));
  }
}
