package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.record.InMemoryRecordStore;
import io.throttlekit.record.RecordStore;
import io.throttlekit.record.RecordStore.Step;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecordedFleetsTest extends ConcurrencyCoordinatorConformance {
  private final ManualTime time = new ManualTime(1_700_000_000_000L);

  @Override
  protected ConcurrencyCoordinator open(Coordination terms) {
    time.advance(1_000); // a clock at 0 would hide overflows
    return new RecordedFleets(new InMemoryRecordStore(time), terms);
  }

  @Override
  protected void advance(long millis) {
    time.advance(millis);
  }

  @Test
  void aRecordOfAnotherProgramFailsCallsUntilItIsDeleted() {
    RecordStore store = new InMemoryRecordStore(time);
    ConcurrencyCoordinator fleets = new RecordedFleets(store, Coordination.DEFAULT);
    FleetNode node = new FleetNode(fleets, "a", 1).of("checkout");
    set(store, "fleet checkout", new byte[] {7, 1, 2});
    assertThat(fleets.heartbeat(node.next(8, 0, 0)).toCompletableFuture())
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(StoreException.class)
        .withMessageContaining("the record 'fleet checkout' is not of this program")
        .withMessageContaining("format 7");
    set(store, "fleet checkout", null);
    assertThat(new FleetNode(fleets, "a", 2).of("checkout").beat(8, 0).share()).isEqualTo(8);
  }

  private static void set(RecordStore store, String key, byte @Nullable [] record) {
    assertThat(store.update(key, Duration.ofHours(1), (_, _) -> new Step<>(record, true)))
        .isCompletedWithValue(true);
  }

  @Test
  void permitsOfADeadNodeStayReservedThroughOthersHeartbeats() {
    ConcurrencyCoordinator fleets = coordinator(Coordination.DEFAULT);
    FleetNode dead = new FleetNode(fleets, "a", 1).withPermits(20 * 3_600_000L);
    dead.beat(8, 5);
    dead.beat(8, 5);
    time.advance(60_000);
    FleetNode living = new FleetNode(fleets, "b", 1);
    living.beat(8, 0);
    time.advance(2 * 3_600_000);
    assertThat(new FleetNode(fleets, "c", 1).beat(8, 0).remnants())
        .as("after two hours without a heartbeat")
        .isNotEmpty();
  }
}
