package io.throttlekit.store;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.rate.FixedWindow;
import org.junit.jupiter.api.Test;

class InMemoryFairStoreTest extends FairStoreConformance {

  @Override
  protected CounterStore open(ManualTime clock) {
    return new InMemoryStore(clock, 10_000_000);
  }

  @Test
  void weighsAPoolByItsTenants() {
    ManualTime clock = new ManualTime(1_700_000_000_000L);
    InMemoryStore store = new InMemoryStore(clock, 1_600);
    for (int i = 0; i < 100; i++) {
      for (int tenant = 0; tenant < 100; tenant++) {
        store.decide(charge("pool" + i, "tenant" + tenant));
      }
    }
    assertThat(store.size()).isBetween(8L, 16L); // by room for 100 to 200 tenants, at most 100
    assertThat(store.forgotten()).isPositive();
  }

  @Test
  void aGrantReportsWhatItsTenantMayTakeInAll() {
    InMemoryStore store = new InMemoryStore(new ManualTime(1_700_000_000_000L), 1_600);
    store.decide(charge("pool", "other"));
    Charge charge = charge("pool", "tenant");
    LeaseRequest request =
        new LeaseRequest(charge.key(), new FixedWindow(1_000, 60_000), 10, DataLoss.REFILL);
    LeaseRequest ofTenant = request.of(requireNonNull(charge.tenant()));
    assertThat(lease(store, ofTenant).limit()).isEqualTo(500);
    assertThat(lease(store, ofTenant.with(new CallId(1, 1))).limit()).isEqualTo(500);
    LeaseRequest plain =
        new LeaseRequest(CounterKey.of("plain"), request.window(), 1, DataLoss.REFILL);
    assertThat(lease(store, plain).limit()).isEqualTo(LeaseGrant.UNKNOWN);
  }

  private static LeaseGrant lease(InMemoryStore store, LeaseRequest request) {
    return store.lease(request).toCompletableFuture().join();
  }

  private static Charge charge(String pool, String tenant) {
    FairTerms terms = FairTerms.of(1_000, 60_000);
    CounterKey key = CounterKey.of("tenants", "tenant", tenant);
    return new Charge(
        CounterKey.of("pools", "pool", pool),
        new FixedWindow(1_000, 60_000),
        1,
        Overrun.REFUSE,
        new FairTenant(key, TenantWeight.listed(1), terms));
  }
}
