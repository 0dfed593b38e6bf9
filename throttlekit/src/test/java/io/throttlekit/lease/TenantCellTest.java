package io.throttlekit.lease;

import static io.throttlekit.lease.GlobalCells.END;
import static io.throttlekit.lease.GlobalCells.ms;
import static io.throttlekit.lease.GlobalCells.tier;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.lease.AcquireResult.Kind;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.lease.sizing.LeaseSizer;
import io.throttlekit.store.Charge;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.tier.FairRule;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what cells know of the tenant that they lease for. */
class TenantCellTest {
  private final FairRule rule = FairRule.of(100, END);
  private final FairTenant tenant = rule.tenant("a", 1);
  private final Charge charge = rule.charge(tenant, 1);
  private final Tier.Leased leased = new Tier.Leased(new LeaseSize.Fixed(10), true, 3, 0);
  private final Tier.Global global = tier(rule.window(), new LeaseSize.Fixed(10), 0, 0);

  @Test
  void aCellHasTheTenantsKeyAndLeasesFromTheCounter() {
    for (Tier.Leasing each : List.of(leased, global)) {
      LeaseCell cell = LeaseCell.of(charge, each, 0);
      assertThat(cell.key()).isEqualTo(tenant.key());
      LeaseRequest request = begin(cell, 1);
      assertThat(request.key()).isEqualTo(rule.pool());
      assertThat(request.tenant()).isEqualTo(tenant);
      assertThat(cell.leased(5, END).tenant()).as("of a return").isEqualTo(tenant);
    }
  }

  @Test
  void aCellFollowsTheWeightAndTheTermsOfItsTenant() {
    for (Tier.Leasing each : List.of(leased, global)) {
      LeaseCell cell = LeaseCell.of(charge, each, 0);
      FairTenant heavier = rule.tenant("a", 3);
      cell.tryAcquire(rule.charge(heavier, 1), true, 0);
      assertThat(cell.leased(5, END).tenant()).isEqualTo(heavier);
      FairRule larger = FairRule.of(200, END);
      FairTenant renewed = new FairTenant(heavier.key(), heavier.weight(), larger.terms());
      cell.tryAcquire(larger.charge(renewed, 1), true, 0);
      assertThat(cell.leased(5, END).tenant()).isEqualTo(renewed);
    }
  }

  @Test
  void onlyARuleOfTheRegionAloneIsLeasedAsOne() {
    assertThat(begin(LeaseCell.of(charge, leased, 0), 1).regionalOnly()).isFalse();
    assertThat(begin(LeaseCell.of(charge, global, 0), 1).regionalOnly()).isFalse();
    Tier.Global alone =
        new Tier.Global(
            global.size(), 0, 0, global.terms(), global.onDataLoss(), /* regionalOnly= */ true);
    assertThat(begin(LeaseCell.of(charge, alone, 0), 1).regionalOnly()).isTrue();
  }

  @Test
  void sizesAndDemandAreBoundedByWhatTheTenantMayTake() {
    RecordingSizer sizer = new RecordingSizer();
    StoreCell cell = new StoreCell(charge, leased, sizer, 0);
    assertThat(begin(cell, 1).units()).isEqualTo(100);
    cell.complete(100, new LeaseGrant(25, END, 0, 0).withLimit(25), 0, 0);
    cell.tryAcquire(rule.charge(tenant, 25), true, 0);
    cell.tryAcquire(rule.charge(tenant, 60), true, 0);
    assertThat(cell.tryAcquire(charge, true, ms(END)).kind()).isEqualTo(Kind.SHORT);
    assertThat(sizer.limits).containsOnly(25L);
    assertThat(begin(cell, 1).units()).isEqualTo(25);
  }

  @Test
  void aCostBeyondTheLastLimitIsRequestedWhole() {
    LeaseCell cell = LeaseCell.of(charge, leased, 0);
    begin(cell, 1);
    cell.complete(10, new LeaseGrant(10, END, 0, 10).withLimit(20), 0, 0);
    assertThat(begin(cell, 60).units()).as("others may be gone since").isEqualTo(50);
  }

  @Test
  void usableUnitsAreTheTenants() {
    LeaseCell cell = LeaseCell.of(charge, global, 0);
    assertThat(begin(cell, 1).usable()).as("unknown").isEqualTo(100);
    cell.complete(10, new LeaseGrant(10, END, 0, 20).withLimit(30), 0, 0);
    assertThat(cell.tryAcquire(rule.charge(tenant, 10), true, 0).decision())
        .isEqualTo(Decision.admit(30, 20, END + 10));
    assertThat(begin(cell, 5).usable()).isEqualTo(30);
  }

  private static LeaseRequest begin(LeaseCell cell, long cost) {
    return requireNonNull(cell.refill(cost, DataLoss.REFILL, 0));
  }

  /** Always returns the limit, and records the limits that it was given. */
  private static final class RecordingSizer implements LeaseSizer {
    private final List<Long> limits = new ArrayList<>();

    @Override
    public long size(long offered, long limit) {
      return limit;
    }

    @Override
    public void observe(long demand, long limit) {
      limits.add(limit);
    }
  }
}
