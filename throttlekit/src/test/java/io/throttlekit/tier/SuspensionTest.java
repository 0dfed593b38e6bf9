package io.throttlekit.tier;

import static io.throttlekit.tier.Node.leased;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.lease.GlobalCells;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.HeldSource.ReturnedUnits;
import org.junit.jupiter.api.Test;

/** A suspended virtual machine: its monotonic clock stops, its wall clock continues. */
class SuspensionTest {
  private static final long WINDOW = 10_000;
  private static final long TICK = Suspension.EVERY_NANOS / 1_000_000;

  private final FixedWindow hundred = new FixedWindow(100, WINDOW);
  private final ManualTime storeTime = new ManualTime(1_000_000);
  private final HeldStore store = new HeldStore(new InMemoryStore(storeTime, 10_000));
  private final Node node = new Node(store);
  private final ManualTime coordinatorTime = new ManualTime(1_000_000);
  private final HeldSource source = new HeldSource(coordinatorTime);
  private final Node global =
      new Node(
          new HeldStore(new InMemoryStore(coordinatorTime, 10_000)),
          source,
          new ManualTime(1_000_000),
          1_000);

  @Test
  void unitsOfAWindowEndedDuringASuspensionAreNotSpent() {
    assertThat(node.admitted(1, leased(hundred, 10, 1))).isEqualTo(1);
    storeTime.advance(WINDOW);
    node.time.setWall(node.time.wallMillis() + WINDOW);
    node.time.advance(Suspension.EVERY_NANOS / 1_000_000);
    assertThat(node.admitted(200, leased(hundred, 10, 1)))
        .as("of the current window: none is of the previous one")
        .isEqualTo(100);
    assertThat(node.counted.unitsReturned).isEqualTo(9);
    assertThat(node.counted.suspensions).isEqualTo(1);
  }

  @Test
  void globalUnitsOfAWindowEndedDuringASuspensionAreNotSpent() {
    assertThat(global.admitted(3, hundred(1))).isEqualTo(3);
    long held = source.leases.getFirst().units() - 3;
    assertThat(held).isPositive();
    frozenFor(WINDOW);
    global.time.advance(TICK);
    assertThat(global.admitted(200, hundred(1)))
        .as("of the current window: none is of the previous one")
        .isEqualTo(100);
    assertThat(global.counted.unitsReturned).isEqualTo(held);
    assertThat(source.back).containsExactly(new ReturnedUnits(1_000_000 + WINDOW, held));
  }

  /** The bound: the leased units, for the time in which the clocks are not compared. */
  @Test
  void globalUnitsMayBeSpentForFiveMillisAfterASuspension() {
    assertThat(global.admitted(3, hundred(1))).isEqualTo(3);
    frozenFor(WINDOW);
    global.time.advance(TICK - 1);
    long before = source.leases.size();
    int spent = 0;
    while (source.leases.size() == before && spent < 100) {
      spent += global.admitted(1, hundred(1));
    }
    assertThat(spent).isLessThanOrEqualTo((int) source.leases.getFirst().units());
    global.time.advance(1);
    assertThat(global.admitted(200, hundred(1)) + spent).isBetween(100, 100 + spent);
  }

  @Test
  void globalUnitsOfACurrentWindowAreReturnedAndLeasedAgain() {
    assertThat(global.admitted(3, hundred(1))).isEqualTo(3);
    frozenFor(WINDOW / 2);
    global.time.advance(TICK);
    assertThat(global.admitted(200, hundred(1))).isEqualTo(97);
  }

  /** Suspends the machine of the process; the coordinator's continues. */
  private void frozenFor(long millis) {
    coordinatorTime.advance(millis);
    global.time.setWall(global.time.wallMillis() + millis);
  }

  private TieredClaim hundred(long cost) {
    Tier.Global tier = GlobalCells.tier(hundred, new LeaseSize.Fixed(10), 0, 0);
    return Node.claim(Role.ENFORCED, tier, "global", hundred, cost);
  }

  @Test
  void clockCorrectionsAreNoSuspension() {
    assertThat(node.admitted(1, leased(hundred, 10, 1))).isEqualTo(1);
    node.time.setWall(node.time.wallMillis() + 99);
    node.time.advance(Suspension.EVERY_NANOS / 1_000_000);
    assertThat(node.admitted(9, leased(hundred, 10, 1))).isEqualTo(9);
    assertThat(node.counted.unitsReturned).isZero();
    assertThat(store.leases).hasSize(1);
  }
}
