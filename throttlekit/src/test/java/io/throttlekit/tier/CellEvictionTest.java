package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the memory that a process needs for requests with ever new values. */
@Tag("slow")
class CellEvictionTest {
  private static final Tier CACHED_DENY = new Tier.CachedDeny();

  private final FixedWindow perMinute = new FixedWindow(100, 60_000);
  private final FixedWindow one = new FixedWindow(1, 10_000);
  private final ManualTime storeTime = new ManualTime(1_000_000);
  private final InMemoryStore counters = new InMemoryStore(storeTime, 20_000);
  private final HeldStore store = new HeldStore(counters);
  private final Node node = new Node(store, new ManualTime(0), 20_000);

  @Test
  void memoryIsBoundedForLongValues() {
    String value = "x".repeat(58_000);
    spend(value + "first");
    long before = usedAfterCollection();
    for (int i = 0; i < 11_231; i++) {
      spend(value + i);
    }
    assertThat(node.tiers.cells()).isEqualTo(11_232);
    // Other tests run in this JVM at the same time; the values themselves take 650 MB.
    assertThat(usedAfterCollection() - before).as("bytes in use").isLessThan(60_000_000);
    assertThat(counters.size()).as("no two values share a counter").isEqualTo(11_232);
  }

  @Test
  void cellsUnusedForAWindowAreEvicted() {
    for (int i = 0; i < 1_000; i++) {
      spend("user" + i);
    }
    advance(59_999);
    spend("user0");
    node.tiers.leases.sweep();
    assertThat(node.tiers.cells()).isEqualTo(1_000);
    advance(1);
    node.tiers.leases.sweep();
    assertThat(node.tiers.cells()).as("the one that was used in between").isEqualTo(1);
    assertThat(node.ask(leased("user0")).decidedBy()).isEqualTo(DecidedBy.LEASE);
  }

  @Test
  void evictedCellsLoseNoUnits() {
    Tier.Leased carrying = new Tier.Leased(new LeaseSize.Fixed(10), false, 0, 0);
    spend(claim(Role.ENFORCED, carrying, "user", perMinute, 1));
    advance(60_000);
    node.tiers.leases.sweep();
    assertThat(node.tiers.cells()).isZero();
    assertThat(node.counted.unitsReturned + node.counted.forfeited).isEqualTo(9);
  }

  @Test
  void expiredRefusalsAreEvicted() {
    for (int i = 0; i < 2_000; i++) {
      node.ask(claim(Role.ENFORCED, CACHED_DENY, "user" + i, one, 1));
      assertThat(node.ask(claim(Role.ENFORCED, CACHED_DENY, "user" + i, one, 1)).admitted())
          .isFalse();
    }
    assertThat(node.tiers.denials.size()).isEqualTo(2_000);
    advance(9_999);
    assertThat(node.ask(claim(Role.ENFORCED, CACHED_DENY, "user1", one, 1)).decidedBy())
        .isEqualTo(DecidedBy.CACHED_DENIAL);
    advance(1_100); // expiry is detected about a second late
    // only some are removed at a time
    for (int i = 0; i < 5 && node.tiers.denials.size() > 0; i++) {}
    assertThat(node.tiers.denials.size()).isZero();
  }

  private TieredClaim leased(String user) {
    return claim(Role.ENFORCED, Node.batches(10), user, perMinute, 1);
  }

  private void spend(String user) {
    spend(leased(user));
  }

  private void spend(TieredClaim claim) {
    assertThat(node.ask(claim).admitted()).isTrue();
  }

  private void advance(long millis) {
    node.time.advance(millis);
    storeTime.advance(millis);
  }

  /**
   * Returns the smallest memory in use after several collections, because other tests leave
   * garbage.
   */
  private static long usedAfterCollection() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      least = Math.min(least, used);
    }
    return least;
  }
}
