package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests counters that were lost by their store, and counters that were not added. */
class HeldCountersTest {
  private static final long START = 1_700_000_000_000L;
  private static final long MINUTE = 60_000;
  private static final long WINDOW_END = START - START % MINUTE + MINUTE;

  private final ManualTime clock = new ManualTime(START);
  private final HeldCounterStore store = new HeldCounterStore(clock);
  private final FixedWindow five = new FixedWindow(5, MINUTE);
  private final Gcra gcra = new Gcra(5, MINUTE);

  @Test
  void refusesAfterALossUntilTheWindowEndsIfTheClaimDenies() {
    store.lose();
    assertThat(decide(charge(five, "a", 1), DataLoss.DENY))
        .isEqualTo(Decision.refuse(5, 0, WINDOW_END - START, WINDOW_END - START));
    assertThat(decide(charge(five, "a", 1), DataLoss.REFILL).remaining())
        .as("refused units are not counted")
        .isEqualTo(4);
    clock.setWall(WINDOW_END - 1);
    assertThat(decide(charge(five, "a", 0), DataLoss.DENY).admitted()).isFalse();
    clock.setWall(WINDOW_END);
    assertThat(decide(charge(five, "a", 1), DataLoss.DENY).admitted()).isTrue();
  }

  @Test
  void refusesOtherAlgorithmsForOneWindow() {
    store.lose();
    assertThat(decide(charge(gcra, "a", 1), DataLoss.DENY).retryAfterMillis()).isEqualTo(MINUTE);
    clock.setWall(START + MINUTE - 1);
    assertThat(decide(charge(gcra, "a", 1), DataLoss.DENY).admitted()).isFalse();
    clock.setWall(START + MINUTE);
    assertThat(decide(charge(gcra, "a", 1), DataLoss.DENY).admitted()).isTrue();
  }

  @Test
  void countsOverdraftsAndRefundsOfDeniedCounters() {
    store.lose();
    Decision overdraft = decide(charge(five, "a", 3, Overrun.OVERDRAFT), DataLoss.DENY);
    assertThat(overdraft.admitted()).isFalse();
    assertThat(decide(charge(five, "a", -1), DataLoss.DENY).admitted()).isTrue();
    assertThat(decide(charge(five, "a", 0), DataLoss.REFILL).remaining()).isEqualTo(3);
  }

  @Test
  void refusesARequestIfOneClaimIsDenied() {
    store.lose();
    Outcome outcome =
        store
            .acquire(
                List.of(
                    claim(charge(five, "a", 1), DataLoss.REFILL),
                    claim(charge(five, "b", 1), DataLoss.DENY)))
            .toCompletableFuture()
            .join();
    assertThat(outcome.admitted()).isFalse();
    assertThat(outcome.decisions().get(0).remaining()).isEqualTo(5);
  }

  @Test
  void grantsNothingOfADeniedLease() {
    store.lose();
    LeaseRequest denied = new LeaseRequest(key(five, "a"), five, 3, DataLoss.DENY);
    assertThat(grant(denied)).isEqualTo(new LeaseGrant(0, WINDOW_END, START, 0));
    clock.setWall(WINDOW_END);
    assertThat(grant(denied).units()).isEqualTo(3);
  }

  @Test
  void rejectsCountersThatItDoesNotHold() {
    HeldCounters held = new HeldCounters(START, 0);
    assertThatThrownBy(() -> held.acquire(List.of(claim(charge(five, "a", 1), DataLoss.DENY))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not held");
  }

  private LeaseGrant grant(LeaseRequest request) {
    return store.lease(request).toCompletableFuture().join();
  }

  private Decision decide(Charge charge, DataLoss onDataLoss) {
    return store
        .acquire(List.of(claim(charge, onDataLoss)))
        .toCompletableFuture()
        .join()
        .decisions()
        .getFirst();
  }

  private static Claim claim(Charge charge, DataLoss onDataLoss) {
    return new Claim(Claim.Role.ENFORCED, List.of(charge), onDataLoss);
  }
}
