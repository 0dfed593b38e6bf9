package io.throttlekit.simulator.fairness;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import java.util.List;
import java.util.stream.IntStream;

/** The counters by which a fleet divides a limit among tenants. */
enum Division {
  /** One for all tenants. */
  FIRST_COME,

  /** One for each tenant, with its part of the limit. */
  STATIC,

  /** One that tenants share by weight. */
  FAIR;

  /** Returns the charge of a request of each tenant. */
  List<Charge> charges(FairScenario scenario) {
    FairTerms terms = FairTerms.of(scenario.limit(), scenario.windowMillis());
    long all = scenario.tenants().stream().mapToLong(TenantLoad::weight).sum();
    return IntStream.range(0, scenario.tenants().size())
        .mapToObj(i -> charge(scenario.tenants().get(i), terms, all))
        .toList();
  }

  private Charge charge(TenantLoad tenant, FairTerms terms, long allWeights) {
    FixedWindow whole = new FixedWindow(terms.limit(), terms.windowMillis());
    return switch (this) {
      case FIRST_COME ->
          new Charge(CounterKey.of("simulated", "limit", "all"), whole, 1, Overrun.REFUSE);
      case STATIC ->
          new Charge(
              CounterKey.of("simulated", "tenant", tenant.name()),
              new FixedWindow(tenant.weight() * terms.limit() / allWeights, terms.windowMillis()),
              1,
              Overrun.REFUSE);
      case FAIR ->
          new Charge(
              CounterKey.of("simulated/pool", "limit", "all"),
              whole,
              1,
              Overrun.REFUSE,
              new FairTenant(
                  CounterKey.of("simulated/tenants", "tenant", tenant.name()),
                  TenantWeight.listed(tenant.weight()),
                  terms));
    };
  }
}
