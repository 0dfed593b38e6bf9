package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.junit.jupiter.api.Test;

/** Tests what a pool leases, undoes and reports, and one that exists for two windows at once. */
class FairPoolTest {
  private static final long WINDOW = 1_000;

  private final FairTerms terms = FairTerms.of(100, WINDOW);
  private final FairTenant a = tenant("a", 1);
  private final FairTenant b = tenant("b", 3);
  private final FairPool pool = new FairPool(terms);

  @Test
  void tenantsOfThisWindowAreActiveInTheNext() {
    charge(pool, a, 60, 0);
    charge(pool, b, 10, 0);
    FairPool next = pool.next();
    assertThat(left(next, a, WINDOW)).isEqualTo(25);
    assertThat(left(next, b, WINDOW)).isEqualTo(75);
    assertThat(left(pool, b, 0)).as("of this window").isEqualTo(30);
  }

  @Test
  void tenantsOfTheWindowBeforeAreNot() {
    charge(pool, a, 1, 0);
    charge(pool, b, 1, WINDOW);
    assertThat(left(pool.next(), b, 2 * WINDOW)).isEqualTo(100);
  }

  @Test
  void anExpectedTenantHasAReserveInOneWindow() {
    charge(pool, b, 1, 0);
    FairPool next = pool.next();
    assertThat(left(next, b, WINDOW)).isEqualTo(100);
    next.expect(a);
    next.expect(a);
    assertThat(left(next, b, WINDOW)).isEqualTo(75);
    charge(next, b, 75, WINDOW);
    charge(next, a, 25, WINDOW);
    assertThat(left(next, a, WINDOW)).isZero();
    assertThat(left(next, a, 2 * WINDOW)).isEqualTo(25);
  }

  @Test
  void anExpectedTenantThatDoesNotComeIsForgotten() {
    charge(pool, b, 1, 0);
    FairPool next = pool.next();
    next.expect(a);
    charge(next, b, 1, WINDOW);
    assertThat(left(next, b, 2 * WINDOW)).isEqualTo(100);
  }

  @Test
  void anExpectedTenantHasItsNewestWeight() {
    charge(pool, a, 1, 0);
    charge(pool, b, 1, 0);
    FairPool next = pool.next();
    next.expect(tenant("a", 2));
    assertThat(left(next, b, WINDOW)).isEqualTo(60);
    charge(next, a, 1, WINDOW);
    next.expect(tenant("a", 2));
    assertThat(left(next, b, WINDOW)).as("it was seen with another one").isEqualTo(75);
  }

  @Test
  void aRefundOfTheWindowBeforeIsWorthNothing() {
    charge(pool, a, 60, 0);
    charge(pool, a, 40, WINDOW);
    pool.refund(a, 10, WINDOW, WINDOW);
    assertThat(pool.used()).isEqualTo(40);
    pool.refund(a, 10, 2 * WINDOW, WINDOW);
    assertThat(pool.used()).isEqualTo(30);
  }

  @Test
  void anUndoneChargeOfATenantThatWasEvictedAndCameBackIsNotUsed() {
    FairTerms one = terms.withMaxTenants(1);
    FairTenant first = new FairTenant(a.key(), a.weight(), one);
    FairTenant other = new FairTenant(b.key(), b.weight(), one);
    charge(pool, first, 10, 0);
    charge(pool, other, 1, 0); // evicts the first
    charge(pool, first, 3, 0);
    pool.undo(first, 3, 0, 0);
    pool.undo(other, 1, 0, 0);
    pool.undo(first, 10, 0, 0);
    assertThat(pool.used()).isZero();
  }

  @Test
  void anUndoneChargeIsTheTenantsAgainAndLeavesThatOfOthers() {
    charge(pool, b, 5, 0);
    charge(pool, a, 25, 0);
    pool.undo(a, 25, 0, 0);
    assertThat(pool.used()).isEqualTo(5);
    assertThat(left(pool, a, 0)).isEqualTo(25);
    assertThat(left(pool, b, 0)).isEqualTo(70);
  }

  @Test
  void anUndoneChargeIsNeitherBorrowedNorRefused() {
    FairPool odd = new FairPool(FairTerms.of(101, WINDOW)); // one unit is in no guarantee
    odd.charge(b.key(), b.weight(), 1, Overrun.REFUSE, 0);
    FairDecision lent = odd.charge(a.key(), a.weight(), 26, Overrun.REFUSE, 0);
    assertThat(lent.borrowed()).isEqualTo(1);
    assertThat(odd.charge(a.key(), a.weight(), 2, Overrun.REFUSE, 0).admitted()).isFalse();
    assertThat(odd.figures(0).borrowed()).isEqualTo(1);
    assertThat(odd.figures(0).refused()).isEqualTo(2);
    odd.undo(tenant("a", 1, FairTerms.of(101, WINDOW)), 26, 1, 2);
    assertThat(odd.figures(0).borrowed()).isZero();
    assertThat(odd.figures(0).refused()).isZero();
  }

  @Test
  void aLeaseChargesTheGuaranteeAndNothingThatOthersHaveReserved() {
    charge(pool, b, 1, 0);
    assertThat(pool.lease(a, 10, 0)).isEqualTo(10);
    assertThat(pool.used()).isEqualTo(11);
    assertThat(pool.lease(a, 1_000, 0)).isEqualTo(15);
    assertThat(pool.lease(a, 1_000, 0)).isZero();
    assertThat(pool.used()).isEqualTo(26);
    assertThat(left(pool, b, 0)).isEqualTo(74);
  }

  @Test
  void aLeaseBorrowsOneUnitOfThoseThatAreInNoGuarantee() {
    FairTerms odd = FairTerms.of(101, WINDOW); // guarantees of 33, 33 and 33
    FairPool shared = new FairPool(odd);
    charge(shared, tenant("b", 1, odd), 1, 0);
    charge(shared, tenant("c", 1, odd), 1, 0);
    assertThat(shared.lease(tenant("a", 1, odd), 1_000, 0)).isEqualTo(34);
    assertThat(left(shared, tenant("b", 1, odd), 0)).isEqualTo(33);
  }

  @Test
  void aTenantWhoseLeaseIsEmptyIsActive() {
    charge(pool, b, 100, 0);
    assertThat(pool.lease(a, 10, 0)).isZero();
    assertThat(pool.used()).isEqualTo(100);
    assertThat(left(pool, b, WINDOW)).isEqualTo(75);
  }

  @Test
  void aLookRefusesATenantThatHasNothingLeftUntilTheWindowEnds() {
    charge(pool, b, 1, 0);
    charge(pool, a, 25, 0);
    assertThat(pool.look(a, Overrun.REFUSE, 400)).isEqualTo(Decision.refuse(25, 0, 600, 600));
    assertThat(pool.look(a, Overrun.COUNT, 400)).isEqualTo(Decision.admit(25, 0, 600));
    assertThat(pool.look(b, Overrun.REFUSE, 400)).isEqualTo(Decision.admit(75, 74, 600));
  }

  @Test
  void aLookAtALimitOf0NeverAdmits() {
    FairTenant refused = tenant("a", 1, terms.withLimit(0));
    assertThat(pool.look(refused, Overrun.REFUSE, 400))
        .isEqualTo(Decision.refuse(0, 0, 600, Decision.NEVER));
  }

  @Test
  void whatATenantHasUsedWhenItIsResetIsLeftForOthers() {
    charge(pool, a, 25, 0);
    charge(pool, b, 10, 0);
    pool.reset(a);
    assertThat(pool.used()).isEqualTo(10);
    assertThat(pool.remembers(a.key())).isFalse();
    assertThat(pool.remembers(b.key())).isTrue();
    assertThat(left(pool, b, 0)).isEqualTo(90);
  }

  @Test
  void aPoolIsUnusedWhenNoTenantIsActiveInTheNextWindow() {
    charge(pool, a, 1, 400);
    assertThat(pool.unusedFromMillis()).isEqualTo(2 * WINDOW);
  }

  @Test
  void theRoomOfAPoolHoldsItsTenantsAndDoubles() {
    assertThat(pool.room()).isEqualTo(8);
    for (int i = 1; i <= 9; i++) {
      charge(pool, tenant("t" + i, 1), 1, 0);
      assertThat(pool.size()).isEqualTo(i);
      assertThat(pool.room()).isEqualTo(i <= 8 ? 8 : 18);
    }
  }

  @Test
  void anExpectedTenantEvictsOneThatIsTooMany() {
    FairTerms two = terms.withMaxTenants(2);
    FairPool full = new FairPool(two);
    charge(full, tenant("a", 1, two), 1, 0);
    charge(full, tenant("b", 3, two), 1, 0);
    full.expect(tenant("c", 1, two));
    assertThat(full.size()).isEqualTo(2);
  }

  @Test
  void anExpectedTenantThatComesAfterItsWindowHasAReserveOnce() {
    charge(pool, b, 1, 0);
    pool.expect(a);
    charge(pool, b, 1, WINDOW);
    charge(pool, a, 1, WINDOW);
    assertThat(pool.figures(WINDOW).listed()).isEqualTo(2);
    assertThat(pool.figures(WINDOW).reserved()).isEqualTo(24 + 74);
    charge(pool, b, 1, 2 * WINDOW);
    assertThat(left(pool, b, 2 * WINDOW)).isEqualTo(74);
  }

  @Test
  void unlistedTenantsOfThisWindowAreActiveInTheNext() {
    FairTenant unlisted = new FairTenant(Keys.tenant("u"), TenantWeight.unlisted(1), terms);
    charge(pool, unlisted, 1, 0);
    charge(pool, a, 1, 0);
    FairPool next = pool.next();
    assertThat(left(next, a, WINDOW)).isEqualTo(50);
    assertThat(left(next, unlisted, WINDOW)).isEqualTo(50);
  }

  @Test
  void figuresFollowALowerLimitAndAReset() {
    charge(pool, a, 1, 0);
    charge(pool, b, 1, 0);
    assertThat(pool.figures(0).granted()).isEqualTo(100);
    pool.follow(terms.withLimit(40));
    assertThat(pool.figures(0).granted()).isEqualTo(40);
    assertThat(pool.figures(0).reserved()).isEqualTo(9 + 29);
    pool.reset(b);
    assertThat(pool.figures(0).reserved()).isEqualTo(39);
  }

  private FairTenant tenant(String name, long weight) {
    return tenant(name, weight, terms);
  }

  private static FairTenant tenant(String name, long weight, FairTerms terms) {
    return new FairTenant(Keys.tenant(name), TenantWeight.listed(weight), terms);
  }

  private static void charge(FairPool to, FairTenant tenant, long cost, long now) {
    assertThat(to.charge(tenant, cost, Overrun.REFUSE, now).admitted()).isTrue();
  }

  private static long left(FairPool in, FairTenant tenant, long now) {
    return in.look(tenant, Overrun.COUNT, now).remaining();
  }
}
