package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Overrun;
import org.junit.jupiter.api.Test;

/** Tests a pool that exists for two windows at once. */
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

  private FairTenant tenant(String name, long weight) {
    return new FairTenant(Keys.tenant(name), TenantWeight.listed(weight), terms);
  }

  private static void charge(FairPool to, FairTenant tenant, long cost, long now) {
    assertThat(to.charge(tenant, cost, Overrun.REFUSE, now).admitted()).isTrue();
  }

  private static long left(FairPool in, FairTenant tenant, long now) {
    return in.look(tenant, Overrun.COUNT, now).remaining();
  }
}
