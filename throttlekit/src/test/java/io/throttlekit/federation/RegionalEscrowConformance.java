package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.ManualTime;
import io.throttlekit.store.CallId;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The behaviour of every {@link RegionalEscrow}, with any storage of its units. */
public abstract class RegionalEscrowConformance {
  private static final long NOW = 1_700_000_000_000L;
  private static final long WINDOW_END = 1_600_000_010_000L; // by the coordinator's clock

  private final ManualTime clock = new ManualTime(NOW);
  private final CounterKey key = CounterKey.of("shop/10000", "user", "a");
  private RegionalEscrow escrow = new InMemoryEscrow(clock);

  /** Opens an empty escrow with the wall clock of {@code clock}. */
  protected abstract RegionalEscrow open(ManualTime clock);

  @BeforeEach
  void openEscrow() {
    escrow = open(clock);
  }

  @AfterEach
  void closeEscrow() {
    escrow.close();
  }

  @Test
  void anEmptyEscrowGrantsNothing() {
    assertThat(lease(5)).isEqualTo(EscrowGrant.nothing(NOW));
    assertThat(release(WINDOW_END)).isZero();
  }

  @Test
  void grantsItsUnitsUntilItIsEmpty() {
    assertThat(refill("1", NOW, NOW + 6_000, 8)).isTrue();
    assertThat(lease(5)).isEqualTo(new EscrowGrant(5, WINDOW_END, NOW, NOW + 6_000, NOW, 3));
    assertThat(lease(5)).isEqualTo(new EscrowGrant(3, WINDOW_END, NOW, NOW + 6_000, NOW, 0));
    assertThat(lease(5)).isEqualTo(new EscrowGrant(0, WINDOW_END, NOW, NOW + 6_000, NOW, 0));
  }

  @Test
  void refillsAddUpAndEachCountsOnce() {
    refill("1", NOW, NOW + 6_000, 8);
    lease(8);
    assertThat(refill("1", NOW, NOW + 6_000, 8)).isTrue();
    assertThat(lease(8).units()).isZero();
    refill("2", NOW, NOW + 6_000, 2);
    refill("3", NOW, NOW + 6_000, 3);
    assertThat(lease(8).units()).isEqualTo(5);
  }

  @Test
  void endedUnitsAreNotGranted() {
    refill("1", NOW, NOW + 6_000, 8);
    clock.advance(5_999);
    assertThat(lease(1).units()).isEqualTo(1);
    clock.advance(1);
    assertThat(lease(1).units()).isZero();
    assertThat(release(WINDOW_END)).isZero();
    assertThat(refill("2", NOW, NOW + 6_000, 8)).as("too late").isFalse();
    assertThat(lease(1).units()).isZero();
  }

  @Test
  void unitsAreNotGrantedBeforeTheyBegin() {
    refill(WINDOW_END + 10_000, "1", NOW + 7_000, NOW + 16_000, 8);
    assertThat(lease(1)).isEqualTo(EscrowGrant.nothing(NOW));
    refill("1", NOW, NOW + 6_000, 3);
    assertThat(lease(5).units()).isEqualTo(3);
    clock.advance(6_500);
    assertThat(lease(5).units()).as("between the two").isZero();
    clock.advance(500);
    assertThat(lease(5))
        .isEqualTo(
            new EscrowGrant(5, WINDOW_END + 10_000, NOW + 7_000, NOW + 16_000, NOW + 7_000, 3));
  }

  @Test
  void theWidestOfSeveralIntervalsCounts() {
    refill("1", NOW + 500, NOW + 5_000, 2);
    refill("2", NOW, NOW + 4_000, 2);
    assertThat(lease(1)).isEqualTo(new EscrowGrant(1, WINDOW_END, NOW, NOW + 5_000, NOW, 3));
    clock.advance(4_500);
    assertThat(lease(5).units()).isEqualTo(3);
  }

  @Test
  void theFirstReleaseReturnsAllUnits() {
    refill("1", NOW, NOW + 6_000, 8);
    refill(WINDOW_END + 10_000, "1", NOW + 7_000, NOW + 16_000, 5);
    assertThat(release(WINDOW_END)).isEqualTo(8);
    assertThat(release(WINDOW_END)).isZero();
    assertThat(refill("1", NOW, NOW + 6_000, 8)).as("a repeated refill").isTrue();
    assertThat(lease(8).units()).isZero();
    assertThat(release(WINDOW_END + 10_000)).isEqualTo(5);
  }

  @Test
  void countersAreApart() {
    refill("1", NOW, NOW + 6_000, 8);
    CounterKey other = CounterKey.of("shop/10000", "user", "b");
    assertThat(escrow.lease(other, 1).toCompletableFuture().join().units()).isZero();
  }

  @Test
  void healthReturnsItsClock() {
    assertThat(escrow.health().toCompletableFuture().join()).isEqualTo(NOW);
  }

  @Test
  void aDuplicateLeaseGetsTheSameGrantOnce() {
    Assumptions.assumeTrue(supportsCallIds());
    refill("1", NOW, NOW + 6_000, 8);
    assertThat(lease(3, new CallId(16, 1)).units()).isEqualTo(3);
    assertThat(lease(3, new CallId(16, 1)))
        .isEqualTo(new EscrowGrant(3, WINDOW_END, NOW, NOW + 6_000, NOW, 5));
    assertThat(lease(3, new CallId(17, 1)).left()).as("another sender").isEqualTo(2);
    assertThat(lease(3, new CallId(16, 2)).units()).as("another call").isEqualTo(2);
    assertThat(lease(3, new CallId(16, 2)).units()).as("the same").isEqualTo(2);
    refill("2", NOW, NOW + 6_000, 8);
    assertThat(escrow.lease(key, 3, new CallId(16, 1)).toCompletableFuture())
        .as("a superseded call")
        .failsWithin(Duration.ofMinutes(4));
    assertThat(lease(9).units()).isEqualTo(8);
  }

  @Test
  void aDuplicateReleaseGetsTheSameAnswer() {
    Assumptions.assumeTrue(supportsCallIds());
    refill("1", NOW, NOW + 6_000, 8);
    CallId id = new CallId(24, 5);
    assertThat(escrow.release(key, WINDOW_END, id).toCompletableFuture().join()).isEqualTo(8);
    refill("2", NOW, NOW + 6_000, 2);
    assertThat(escrow.release(key, WINDOW_END, id).toCompletableFuture().join()).isEqualTo(8);
    assertThat(lease(9).units()).isEqualTo(2);
  }

  @Test
  void aRepeatedCallIdInAnotherWindowIsANewCall() {
    Assumptions.assumeTrue(supportsCallIds());
    refill("1", NOW, NOW + 6_000, 8);
    assertThat(lease(3, new CallId(16, 1)).units()).isEqualTo(3);
    clock.advance(6_000);
    refill(WINDOW_END + 6_000, "2", NOW + 6_000, NOW + 12_000, 9);
    assertThat(lease(4, new CallId(16, 1)).units()).isEqualTo(4);
  }

  /** Returns whether it recognises repeated calls. */
  protected boolean supportsCallIds() {
    return true;
  }

  private EscrowGrant lease(long units, CallId id) {
    return escrow.lease(key, units, id).toCompletableFuture().join();
  }

  private EscrowGrant lease(long units) {
    return escrow.lease(key, units).toCompletableFuture().join();
  }

  private boolean refill(String id, long begins, long ends, long units) {
    return refill(WINDOW_END, id, begins, ends, units);
  }

  private boolean refill(long windowEnd, String id, long begins, long ends, long units) {
    EscrowRefill refill = new EscrowRefill(key, id, windowEnd, begins, ends, units);
    return escrow.refill(refill).toCompletableFuture().join();
  }

  private long release(long windowEnd) {
    return escrow.release(key, windowEnd).toCompletableFuture().join();
  }
}
