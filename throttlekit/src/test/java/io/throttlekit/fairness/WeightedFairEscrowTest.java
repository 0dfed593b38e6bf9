package io.throttlekit.fairness;

import static io.throttlekit.fairness.Keys.tenant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Examples with a window of one second; published ones, and those of our own rules. */
class WeightedFairEscrowTest {
  private static final long WINDOW = 1_000;
  private static final TenantWeight ONE = TenantWeight.listed(1);
  private static final TenantWeight FOUR = TenantWeight.listed(4);
  private static final TenantWeight INVENTED = TenantWeight.unlisted(1);

  private WeightedFairEscrow escrow = new WeightedFairEscrow(FairTerms.of(10, WINDOW));
  private long now;

  @Test
  void aSoleTenantHasTheWholeLimit() {
    assertThat(admitted("a", ONE, 12)).isEqualTo(10);
  }

  @Test
  void alternatingTenantsShareByWeight() {
    assertThat(alternating(ONE, ONE)).containsExactly(5L, 5L);
    restart(FairTerms.of(10, WINDOW));
    assertThat(alternating(FOUR, ONE)).containsExactly(8L, 2L);
  }

  @Test
  void aTenantThatComesLaterHasItsGuaranteeAsFarAsUnitsAreLeft() {
    assertThat(admitted("a", ONE, 8)).isEqualTo(8);
    assertThat(decide("b", ONE)).isEqualTo(Decision.admit(5, 4, WINDOW));
    assertThat(decide("b", ONE)).isEqualTo(Decision.admit(5, 3, WINDOW));
    assertThat(decide("b", ONE)).isEqualTo(Decision.refuse(5, 3, WINDOW, WINDOW));
    assertThat(decide("a", ONE)).isEqualTo(Decision.refuse(8, 0, WINDOW, WINDOW));
  }

  @Test
  void aPausedTenantKeepsItsReserveAndAnAbsentOneDoesNot() {
    charge("high", FOUR, 1);
    assertThat(admitted("low", ONE, 12)).isEqualTo(2);
    restart(FairTerms.of(10, WINDOW));
    assertThat(admitted("low", ONE, 12)).isEqualTo(10);
  }

  @Test
  void theRemainderOfRoundingIsLentOneCostAtATime() {
    restart(FairTerms.of(11, WINDOW));
    charge("b", ONE, 0);
    assertThat(admitted("a", ONE, 5)).isEqualTo(5);
    FairDecision borrowed = charge("a", ONE, 1);
    assertThat(borrowed).isEqualTo(new FairDecision(Decision.admit(6, 0, WINDOW), 5, 1, WINDOW));
    assertThat(charge("a", ONE, 1).admitted()).isFalse();
    assertThat(escrow.figures(now).borrowed()).isEqualTo(1);
    assertThat(escrow.figures(now).refused()).isEqualTo(1);
  }

  /** As published. The reserves lose less than one cost in all, see FairTheoremsTest. */
  @Test
  void aCostBeyondTheGuaranteeIsComparedWithWhatIsUnreservedOnlyByThePartBeyondIt() {
    charge("b", ONE, 3);
    charge("a", ONE, 3);
    assertThat(charge("a", ONE, 4))
        .isEqualTo(new FairDecision(Decision.admit(7, 0, WINDOW), 5, 2, WINDOW));
    assertThat(escrow.figures(now).reserved()).isEqualTo(2); // and nothing is left
    assertThat(charge("b", ONE, 1).admitted()).isFalse();
  }

  @Test
  void aTenantOfTheLastWindowHasItsReserveFromTheBeginningOfThisOne() {
    charge("high", FOUR, 1);
    now += WINDOW;
    assertThat(admitted("low", ONE, 12)).isEqualTo(2);
    assertThat(admitted("high", FOUR, 12)).isEqualTo(8);
  }

  @Test
  void refusedRequestsKeepATenantActive() {
    admitted("a", ONE, 10);
    assertThat(charge("b", ONE, 1).admitted()).isFalse();
    now += WINDOW;
    assertThat(admitted("a", ONE, 12)).isEqualTo(5);
    assertThat(admitted("b", ONE, 12)).isEqualTo(5);
  }

  @Test
  void aTenantThatMissedAWindowIsAbsentAndItsPartIsLent() {
    charge("high", FOUR, 1);
    now += WINDOW;
    assertThat(admitted("low", ONE, 1)).isEqualTo(1);
    now += WINDOW;
    assertThat(admitted("low", ONE, 9)).isEqualTo(9);
    assertThat(admitted("high", FOUR, 12)).isEqualTo(1); // what is unspent
    now += WINDOW;
    assertThat(admitted("low", ONE, 12)).isEqualTo(2);
    assertThat(admitted("high", FOUR, 12)).isEqualTo(8); // whole again
  }

  @Test
  void allTenantsAreAbsentAfterAWindowWithoutRequests() {
    charge("high", FOUR, 1);
    now += 2 * WINDOW;
    assertThat(admitted("low", ONE, 12)).isEqualTo(10);
    assertThat(escrow.figures(now).listed()).isEqualTo(1);
  }

  @Test
  void aClockThatStepsBackStaysInTheNewestWindow() {
    now = 5 * WINDOW;
    assertThat(admitted("a", ONE, 10)).isEqualTo(10);
    now -= 1;
    FairDecision late = charge("a", ONE, 1);
    assertThat(late.decision()).isEqualTo(Decision.refuse(10, 0, WINDOW + 1, WINDOW + 1));
    assertThat(late.windowEndMillis()).isEqualTo(6 * WINDOW);
  }

  @Test
  void aWeightMayChangeWithEachRequest() {
    assertThat(charge("a", ONE, 2).guarantee()).isEqualTo(10);
    assertThat(charge("b", ONE, 2).guarantee()).isEqualTo(5);
    assertThat(charge("a", FOUR, 1).guarantee()).isEqualTo(8);
    assertThat(charge("b", ONE, 1).guarantee()).isEqualTo(2);
    assertThat(escrow.peek(tenant("a"), FOUR, now)).isEqualTo(new TenantState(8, 3, 5, true));
    assertThat(escrow.peek(tenant("a"), ONE, now)).isEqualTo(new TenantState(5, 3, 4, true));
    assertThat(escrow.peek(tenant("c"), FOUR, now)).isEqualTo(new TenantState(4, 0, 5, false));
  }

  @Test
  void resetReturnsWhatATenantHasUsed() {
    charge("a", ONE, 1);
    charge("b", ONE, 1);
    assertThat(left()).isEqualTo(8);
    escrow.reset(tenant("a"));
    assertThat(left()).isEqualTo(9);
    assertThat(escrow.figures(now).listed()).isEqualTo(1);
    escrow.reset();
    assertThat(left()).isEqualTo(10);
  }

  @Test
  void refundsCountInTheirOwnWindowOnlyAndNeverBeyondWhatWasCharged() {
    FairDecision taken = charge("a", ONE, 4);
    escrow.refund(tenant("a"), 3, taken.windowEndMillis(), now);
    assertThat(left()).isEqualTo(9);
    escrow.refund(tenant("a"), 3, taken.windowEndMillis(), now);
    assertThat(left()).isEqualTo(10);
    escrow.refund(tenant("unknown"), 3, taken.windowEndMillis(), now);
    now += WINDOW;
    charge("a", ONE, 4);
    escrow.refund(tenant("a"), 3, taken.windowEndMillis(), now);
    assertThat(left()).isEqualTo(6);
  }

  @Test
  void evictsTheOldestTenantAndKeepsWhatItUsedInTheTotal() {
    restart(FairTerms.of(10, WINDOW).withMaxTenants(2));
    long total = 0;
    for (int i = 0; i < 20; i++) {
      total += admitted("tenant " + i, ONE, 2);
    }
    assertThat(total).isEqualTo(10);
    assertThat(escrow.figures(now).listed()).isEqualTo(2);
    assertThat(escrow.figures(now).evicted()).isEqualTo(18);
  }

  @Test
  void aLoweredBoundEvictsAFewTenantsWithEachRequest() {
    restart(FairTerms.of(10, WINDOW));
    for (int i = 0; i < 100; i++) {
      charge("tenant " + i, ONE, 1);
    }
    escrow.change(FairTerms.of(10, WINDOW).withMaxTenants(3));
    charge("tenant 99", ONE, 1);
    assertThat(escrow.figures(now).listed())
        .as("eight by the charge, eight by the figures")
        .isEqualTo(84);
    for (int i = 0; i < 12; i++) {
      charge("tenant 99", ONE, 1);
    }
    assertThat(escrow.figures(now).listed()).isEqualTo(3);
    charge("another", ONE, 1);
    assertThat(escrow.figures(now).listed()).isEqualTo(3);
  }

  @Test
  void inventedTenantsEvictEachOtherAndNoListedOne() {
    restart(FairTerms.of(10, WINDOW).withMaxTenants(2));
    charge("a", ONE, 1);
    for (int i = 0; i < 20; i++) {
      charge("tenant " + i, INVENTED, 1);
    }
    assertThat(escrow.figures(now).listed()).isEqualTo(1);
    assertThat(admitted("a", ONE, 12)).isEqualTo(4);
  }

  @Test
  void inventedTenantsShareAPartAndDoNotUseTheReserveOfListedOnes() {
    restart(FairTerms.of(100, WINDOW).withUnlistedMillionths(250_000));
    charge("a", FOUR, 0);
    charge("b", ONE, 0);
    long taken = 0;
    for (int i = 0; i < 50; i++) {
      taken += admitted("tenant " + i, INVENTED, 100);
    }
    assertThat(taken).isEqualTo(25);
    assertThat(admitted("a", FOUR, 100)).isEqualTo(60);
    assertThat(admitted("b", ONE, 100)).isEqualTo(15);
  }

  @Test
  void inventedTenantsHaveTheWholeLimitWhileNoListedOneIsActive() {
    restart(FairTerms.of(100, WINDOW).withUnlistedMillionths(250_000));
    assertThat(admitted("x", INVENTED, 100)).isEqualTo(100);
    charge("a", ONE, 1);
    now += WINDOW;
    assertThat(admitted("x", INVENTED, 100)).isEqualTo(25);
    assertThat(admitted("a", ONE, 100)).isEqualTo(75);
  }

  @Test
  void fewUnlistedTenantsShareByWeightLikeAnyOther() {
    charge("x", INVENTED, 0);
    assertThat(charge("a", FOUR, 1).guarantee()).isEqualTo(8);
    assertThat(charge("x", INVENTED, 1).guarantee()).isEqualTo(2);
  }

  @Test
  void costsKnownAfterwardsAreChargedBeyondTheLimit() {
    FairDecision late = escrow.charge(tenant("a"), ONE, 12, Overrun.OVERDRAFT, now);
    assertThat(late.decision()).isEqualTo(Decision.refuse(10, -2, WINDOW, Decision.NEVER));
    assertThat(charge("b", ONE, 1).admitted()).isFalse();
    assertThat(escrow.figures(now).used()).isEqualTo(12);
  }

  @Test
  void aCostAboveTheLimitNeverFits() {
    assertThat(charge("a", ONE, 11).decision().neverFits()).isTrue();
    assertThat(charge("a", ONE, 10).admitted()).isTrue();
  }

  @Test
  void aCostOfZeroAsksWhetherAUnitIsLeftAndTakesNone() {
    assertThat(charge("a", ONE, 0).decision()).isEqualTo(Decision.admit(10, 10, WINDOW));
    admitted("a", ONE, 10);
    assertThat(charge("a", ONE, 0).decision()).isEqualTo(Decision.refuse(10, 0, WINDOW, WINDOW));
  }

  @Test
  void fractionsOfWeightsAndCostsDecideAsWholeNumbersDo() {
    WeightedFairEscrow fine =
        new WeightedFairEscrow(FairTerms.of(10, WINDOW).withPartsPerUnit(1_000));
    for (int i = 0; i < 30; i++) {
      String name = i % 3 == 0 ? "a" : "b";
      long weight = i % 3 == 0 ? 5 : 2; // 1.25 and 0.5
      Decision whole = charge(name, TenantWeight.listed(weight), 1).decision();
      TenantWeight scaled = TenantWeight.listed(weight * 250_000);
      Decision parts = fine.tryAcquire(tenant(name), scaled, 1_000, now).decision();
      assertThat(parts.admitted()).isEqualTo(whole.admitted());
      assertThat(parts.limit()).isEqualTo(1_000 * whole.limit());
      assertThat(parts.remaining()).isEqualTo(1_000 * whole.remaining());
    }
  }

  @Test
  void aChangedLimitKeepsTheCharges() {
    charge("a", ONE, 8);
    escrow.change(FairTerms.of(20, WINDOW));
    assertThat(charge("a", ONE, 1).decision()).isEqualTo(Decision.admit(20, 11, WINDOW));
    escrow.change(FairTerms.of(5, WINDOW));
    assertThat(charge("a", ONE, 1).decision()).isEqualTo(Decision.refuse(9, 0, WINDOW, WINDOW));
    assertThatThrownBy(() -> escrow.change(FairTerms.of(5, 2 * WINDOW)))
        .hasMessage("window and resolution of a pool cannot change");
  }

  @Test
  void rejectsWhatItCannotCountExactly() {
    assertThatThrownBy(() -> charge("a", ONE, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TenantWeight.listed(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TenantWeight.listed(TenantWeight.MAX + 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> FairTerms.of(Cost.MAX, WINDOW).withPartsPerUnit(2))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private void restart(FairTerms terms) {
    escrow = new WeightedFairEscrow(terms);
  }

  private long left() {
    return 10 - escrow.figures(now).used();
  }

  private FairDecision charge(String name, TenantWeight weight, long cost) {
    return escrow.tryAcquire(tenant(name), weight, cost, now);
  }

  private Decision decide(String name, TenantWeight weight) {
    return charge(name, weight, 1).decision();
  }

  private long admitted(String name, TenantWeight weight, int requests) {
    CounterKey key = tenant(name);
    long admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += escrow.tryAcquire(key, weight, 1, now).admitted() ? 1 : 0;
    }
    return admitted;
  }

  private List<Long> alternating(TenantWeight a, TenantWeight b) {
    long ofA = 0;
    long ofB = 0;
    for (int i = 0; i < 12; i++) {
      ofA += admitted("a", a, 1);
      ofB += admitted("b", b, 1);
    }
    return List.of(ofA, ofB);
  }
}
