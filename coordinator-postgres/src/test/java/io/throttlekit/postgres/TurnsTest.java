package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.postgres.Turns.Place;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static final int CONNECTIONS = 4;

  private final FairTerms terms = FairTerms.of(100, 1_000);
  private final Turns<String> turns = new Turns<>(CONNECTIONS);

  @Test
  void aListedTenantBeginsBesideAnyNumberOfUnlistedOnes() {
    List<String> invented = addInvented(1_000);
    assertThat(turns.begin()).isEqualTo(invented.subList(0, Turns.MAX_TENANTS));
    assertThat(turns.begin()).as("another one of the same row").isEmpty();
    turns.add(listed("gold"), "gold");
    assertThat(turns.begin()).containsExactly("gold");
    assertThat(turns.begin()).isEmpty();
  }

  @Test
  void unlistedTenantsBeginBesideListedOnes() {
    for (int i = 0; i < 1_000; i++) {
      turns.add(listed("gold"), "gold" + i);
    }
    assertThat(turns.begin()).hasSize(Turns.MAX_OF_TENANT);
    turns.add(unlisted("new"), "new");
    assertThat(turns.begin()).containsExactly("new");
  }

  @Test
  void onlyOneTransactionOfUnlistedTenantsBeginsBesideOneOfListedOnes() {
    turns.add(listed("gold"), "gold");
    assertThat(turns.begin()).containsExactly("gold");
    addInvented(3 * Turns.MAX_TENANTS);
    assertThat(turns.begin()).hasSize(Turns.MAX_TENANTS);
    turns.end(unlisted("0"));
    assertThat(turns.begin()).as("it could overtake the listed tenant's").isEmpty();
    turns.add(listed("gold"), "gold again");
    assertThat(turns.begin()).isEmpty();
    turns.end(listed("gold"));
    assertThat(turns.begin()).hasSize(Turns.MAX_TENANTS);
    assertThat(turns.begin()).containsExactly("gold again");
    turns.end(unlisted("0"));
    assertThat(turns.begin()).as("one ran when the listed tenant's began").isEmpty();
    turns.end(listed("gold"));
    assertThat(turns.begin()).hasSize(Turns.MAX_TENANTS);
    turns.end(unlisted("0"));
    assertThat(turns.isEmpty()).isTrue();
  }

  @Test
  void unlistedTenantsBeginBesideEachOtherOfManyCounters() {
    for (int i = 0; i < CONNECTIONS; i++) {
      turns.add(Place.of(counter("" + i), sharing("new", false, terms), true), "new of " + i);
      assertThat(turns.begin()).containsExactly("new of " + i);
    }
  }

  @Test
  void tenantsOfOneTransactionTakeTurns() {
    Place first = listed("first");
    turns.add(first, "begun");
    assertThat(turns.begin()).containsExactly("begun");
    List<String> flood = new ArrayList<>();
    for (int i = 0; i < 3 * Turns.MAX_OF_TENANT; i++) {
      flood.add("flood" + i);
      turns.add(listed("flood"), flood.getLast());
    }
    turns.add(listed("silver"), "silver");
    turns.end(first);
    List<String> next = new ArrayList<>(flood.subList(0, Turns.MAX_OF_TENANT));
    next.add("silver");
    assertThat(turns.begin()).isEqualTo(next);
    turns.add(listed("silver"), "silver again");
    turns.end(first);
    next = new ArrayList<>(flood.subList(Turns.MAX_OF_TENANT, 2 * Turns.MAX_OF_TENANT));
    next.add("silver again");
    assertThat(turns.begin()).isEqualTo(next);
  }

  @Test
  void callsWithoutATenantUseAllConnectionsThatSharedCountersDoNot() {
    addInvented(100);
    assertThat(turns.begin()).isNotEmpty();
    for (int i = 0; i < CONNECTIONS; i++) {
      turns.add(Turns.NO_TENANT, "other" + i);
    }
    for (int i = 1; i < CONNECTIONS; i++) {
      assertThat(turns.begin()).containsExactly("other" + (i - 1));
    }
    assertThat(turns.begin()).isEmpty();
  }

  @Test
  void sharedCountersTakeTurnsWithOtherCallsAtTheLastConnection() {
    Turns<String> one = new Turns<>(1);
    for (int i = 0; i < 3; i++) {
      one.add(Turns.NO_TENANT, "other" + i);
    }
    one.add(listed("gold"), "gold");
    assertThat(one.begin()).containsExactly("other0");
    one.end(Turns.NO_TENANT);
    assertThat(one.begin()).containsExactly("gold");
    one.end(listed("gold"));
    assertThat(one.begin()).containsExactly("other1");
  }

  @Test
  void callsWithoutATenantHaveEverySecondTurnHoweverManyCountersAreShared() {
    Turns<String> one = new Turns<>(1);
    for (int i = 0; i < 100; i++) {
      one.add(ofCounter(i), "gold of " + i);
    }
    assertThat(one.begin()).containsExactly("gold of 0");
    one.add(Turns.NO_TENANT, "first");
    one.add(Turns.NO_TENANT, "second");
    one.end(ofCounter(0));
    assertThat(one.begin()).containsExactly("first");
    one.end(Turns.NO_TENANT);
    assertThat(one.begin()).containsExactly("gold of 1");
    one.end(ofCounter(1));
    assertThat(one.begin()).containsExactly("second");
    one.end(Turns.NO_TENANT);
    assertThat(one.begin()).containsExactly("gold of 2");
  }

  @Test
  void callsOfOtherTermsOrWithTransactionsOfTheirOwnAreNotMadeTogether() {
    turns.add(listed("gold"), "gold");
    turns.add(place("gold", true, FairTerms.of(200, 1_000), true), "gold of a new policy");
    assertThat(turns.begin()).containsExactly("gold");
    assertThat(turns.begin()).as("the row is the same").isEmpty();
    turns.end(listed("gold"));
    assertThat(turns.begin()).containsExactly("gold of a new policy");
    turns.end(listed("gold"));
    for (int i = 0; i < 2; i++) {
      turns.add(place("silver" + i, true, terms, false), "silver" + i);
    }
    assertThat(turns.begin()).containsExactly("silver0");
  }

  @Test
  void removedCallsDoNotBeginAndNothingIsKeptOfThem() {
    List<String> invented = addInvented(3);
    assertThat(turns.remove(unlisted("0"), invented.get(0))).isTrue();
    assertThat(turns.remove(unlisted("0"), invented.get(0))).isFalse();
    assertThat(turns.begin()).containsExactly(invented.get(1), invented.get(2));
    assertThat(turns.remove(unlisted("1"), invented.get(1))).as("it runs").isFalse();
    assertThat(turns.isEmpty()).isFalse();
    turns.end(unlisted("1"));
    assertThat(turns.isEmpty()).isTrue();
    turns.add(listed("gold"), "gold");
    assertThat(turns.remove(listed("gold"), "gold")).isTrue();
    assertThat(turns.isEmpty()).isTrue();
  }

  private List<String> addInvented(int tenants) {
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < tenants; i++) {
      calls.add("invented" + i);
      turns.add(unlisted("" + i), calls.getLast());
    }
    return calls;
  }

  private Place listed(String tenant) {
    return place(tenant, true, terms, true);
  }

  private Place unlisted(String tenant) {
    return place(tenant, false, terms, true);
  }

  private Place ofCounter(int number) {
    return Place.of(counter("" + number), sharing("gold", true, terms), true);
  }

  private static Place place(String tenant, boolean listed, FairTerms terms, boolean together) {
    return Place.of(counter("x"), sharing(tenant, listed, terms), together);
  }

  private static FairTenant sharing(String tenant, boolean listed, FairTerms terms) {
    CounterKey key = CounterKey.of("shop|tenants", "org", tenant);
    return new FairTenant(key, new TenantWeight(1, listed), terms);
  }

  private static CounterKey counter(String api) {
    return CounterKey.of("shop|fair_window", "api", api);
  }
}
