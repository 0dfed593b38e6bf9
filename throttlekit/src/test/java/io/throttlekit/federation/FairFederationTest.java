package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.FairRule;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that a region keeps the units of each tenant apart. */
class FairFederationTest {
  private static final long WINDOW = 10_000;
  private static final long END = 1_700_000_010_000L;

  private final FairRule rule = FairRule.of(100, WINDOW);
  private final FairTenant a = rule.tenant("a", 1);
  private final FairTenant b = rule.tenant("b", 1);
  private final ManualTime time = new ManualTime(END - 6_000);
  private final HeldCoordinator coordinator = new HeldCoordinator(time);
  private final HeldEscrow escrow = new HeldEscrow(time);
  private final Federation federation =
      new Federation(
          coordinator,
          escrow,
          new Clocks(time, (_, _) -> {}),
          new FederationSettings("eu", "n1", 3, 1_000),
          new RecordingFederationListener());

  @Test
  void theEscrowHasUnitsOfEachTenant() {
    assertThat(lease(a).join().units()).isEqualTo(5);
    assertThat(escrow.refills)
        .extracting(EscrowRefill::key, EscrowRefill::units)
        .containsExactly(tuple(a.key().inScope("eu/" + a.key().scope()), 10L));
    assertThat(lease(b).join().units()).isEqualTo(5);
    assertThat(coordinator.leases).extracting(BudgetLease::tenant).containsExactly(a, b);
    assertThat(coordinator.leases).extracting(BudgetLease::units).containsExactly(15L, 15L);
    lease(a).join();
    lease(b).join();
    assertThat(coordinator.leases).as("from the escrow").hasSize(2);
  }

  @Test
  void leasesOfTwoTenantsAreInFlightAtOnce() {
    coordinator.calls.hold();
    CompletableFuture<LeaseGrant> ofA = lease(a);
    CompletableFuture<LeaseGrant> ofB = lease(b);
    coordinator.calls.answerAll();
    assertThat(ofA.join().units()).isEqualTo(5);
    assertThat(ofB.join().units()).isEqualTo(5);
  }

  @Test
  void returnsTheUnitsOfATenantWithItsRestInTheEscrow() {
    lease(a).join();
    lease(b).join();
    federation.returnUnits(request(a), END, 2).toCompletableFuture().join();
    assertThat(coordinator.returns)
        .extracting(BudgetReturn::tenant, BudgetReturn::units)
        .containsExactly(tuple(a, 12L));
    lease(b).join();
    assertThat(coordinator.leases).as("the other one's rest stays").hasSize(2);
  }

  private CompletableFuture<LeaseGrant> lease(FairTenant tenant) {
    return federation
        .lease(request(tenant), _ -> {})
        .thenApply(Answered::value)
        .toCompletableFuture();
  }

  private LeaseRequest request(FairTenant tenant) {
    Terms terms = new Terms("shop", List.of(rule.window()));
    return new LeaseRequest(
            rule.pool(),
            rule.window(),
            5,
            DataLoss.REFILL,
            null,
            LeaseRequest.CURRENT,
            5,
            100,
            terms,
            false)
        .of(tenant);
  }
}
