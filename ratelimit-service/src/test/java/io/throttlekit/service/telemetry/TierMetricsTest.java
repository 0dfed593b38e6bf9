package io.throttlekit.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.Outage;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TierMetricsTest {

  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final TierMetrics metrics = new TierMetrics(telemetry.meter());

  @AfterEach
  void close() {
    telemetry.close();
  }

  @Test
  void countsLeasesByTheirGrantedFraction() throws IOException {
    metrics.leased(100, 100);
    metrics.leased(100, 99);
    metrics.leased(100, 1);
    metrics.leased(100, 0);
    metrics.leaseFailed();
    assertThat(scraped())
        .contains(
            "throttlekit_leases_total{granted=\"whole\"} 1.0",
            "throttlekit_leases_total{granted=\"part\"} 2.0",
            "throttlekit_leases_total{granted=\"none\"} 1.0",
            "throttlekit_lease_requested_units_total 400.0",
            "throttlekit_lease_granted_units_total 200.0",
            "throttlekit_lease_failures_total 1.0");
  }

  @Test
  void countsReturnsForfeitsAndLateGrantsOfLeasedUnits() throws IOException {
    metrics.waiterJoined();
    metrics.refillAhead();
    metrics.refillAhead();
    metrics.unitsReturned(30);
    metrics.unitsReturned(1);
    metrics.forfeited(4);
    metrics.lateGrant(5);
    metrics.lateGrant(6);
    metrics.evicted();
    metrics.suspended();
    assertThat(scraped())
        .contains(
            "throttlekit_lease_waiters_total 1.0",
            "throttlekit_lease_refills_ahead_total 2.0",
            "throttlekit_lease_returned_units_total 31.0",
            "throttlekit_lease_forfeited_units_total 4.0",
            "throttlekit_lease_late_grants_total 2.0",
            "throttlekit_lease_late_units_total 11.0",
            "throttlekit_lease_evicted_cells_total 1.0",
            "throttlekit_lease_suspensions_total 1.0");
  }

  @Test
  void countsChargesByDecidingTierAndOutagesByMode() throws IOException {
    metrics.decided(DecidedBy.LEASE);
    metrics.decided(DecidedBy.LEASE);
    metrics.decided(DecidedBy.STORE);
    metrics.outage(Outage.LOCAL);
    assertThat(scraped())
        .contains(
            "throttlekit_charges_total{by=\"lease\"} 2.0",
            "throttlekit_charges_total{by=\"store\"} 1.0",
            "throttlekit_charges_total{by=\"cached_denial\"} 0.0",
            "throttlekit_outage_decisions_total{on_outage=\"local\"} 1.0",
            "throttlekit_outage_decisions_total{on_outage=\"deny\"} 0.0");
  }

  private List<String> scraped() throws IOException {
    return Objects.requireNonNull(telemetry.scrape()).page(null).body().lines().toList();
  }
}
