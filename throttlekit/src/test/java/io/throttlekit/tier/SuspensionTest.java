package io.throttlekit.tier;

import static io.throttlekit.tier.Node.leased;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.InMemoryStore;
import org.junit.jupiter.api.Test;

/** A virtual machine that is frozen: its monotonic clock stands still, its wall clock goes on. */
class SuspensionTest {
  private static final long WINDOW = 10_000;

  private final FixedWindow hundred = new FixedWindow(100, WINDOW);
  private final ManualTime storeTime = new ManualTime(1_000_000);
  private final HeldStore store = new HeldStore(new InMemoryStore(storeTime, 10_000));
  private final Node node = new Node(store);

  @Test
  void unitsOfAWindowThatEndedMeanwhileAreNotSpent() {
    assertThat(node.admitted(1, leased(hundred, 10, 1))).isEqualTo(1);
    storeTime.advance(WINDOW);
    node.time.setWall(node.time.wallMillis() + WINDOW);
    node.time.advance(Suspension.EVERY_NANOS / 1_000_000);
    assertThat(node.admitted(200, leased(hundred, 10, 1)))
        .as("of the window that lasts: none is of the one before")
        .isEqualTo(100);
    assertThat(node.counted.gaveBack).isEqualTo(9);
  }

  @Test
  void clocksThatAreCorrectedAreNoSuspension() {
    assertThat(node.admitted(1, leased(hundred, 10, 1))).isEqualTo(1);
    node.time.setWall(node.time.wallMillis() + 99);
    node.time.advance(Suspension.EVERY_NANOS / 1_000_000);
    assertThat(node.admitted(9, leased(hundred, 10, 1))).isEqualTo(9);
    assertThat(node.counted.gaveBack).isZero();
    assertThat(store.leases).hasSize(1);
  }
}
