package io.throttlekit.store;

import static io.throttlekit.store.Charges.charge;
import static io.throttlekit.store.Charges.enforced;
import static io.throttlekit.store.Charges.quota;
import static io.throttlekit.store.Charges.shadow;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The claims of one request are decided and counted together. */
class SettlementTest {
  private static final long MINUTE = 60_000;

  private final FixedWindow five = new FixedWindow(5, MINUTE);
  private final FixedWindow two = new FixedWindow(2, 1000);
  private final InMemoryStore store = new InMemoryStore(new ManualTime(0), 1000);

  static List<RateAlgorithm<?>> algorithms() {
    return Charges.hourly(5);
  }

  @Test
  void countsNothingAnywhereWhenAnEnforcedClaimIsRefused() {
    Outcome outcome = acquire(enforced(charge(five, "a", 1)), enforced(charge(five, "b", 6)));
    assertThat(outcome.admitted()).isFalse();
    assertThat(outcome.decisions())
        .containsExactly(
            Decision.admit(5, 5, MINUTE), Decision.refuse(5, 5, MINUTE, Decision.NEVER));
    assertThat(left("a")).isEqualTo(5);
    assertThat(left("b")).isEqualTo(5);
  }

  @Test
  void countsEverythingWhenAllAreAdmitted() {
    Outcome outcome = acquire(enforced(charge(five, "a", 1)), enforced(charge(five, "b", 2)));
    assertThat(outcome.admitted()).isTrue();
    assertThat(outcome.decisions())
        .containsExactly(Decision.admit(5, 4, MINUTE), Decision.admit(5, 3, MINUTE));
  }

  @Test
  void refusesAClaimWhenOneOfItsLimitsDoesAndChargesNoneOfThem() {
    Claim both = enforced(charge(two, "a", 1), charge(five, "a", 1));
    assertThat(acquire(both).admitted()).isTrue();
    assertThat(acquire(both).admitted()).isTrue();
    Outcome third = acquire(both);
    assertThat(third.admitted()).isFalse();
    assertThat(third.decisions())
        .containsExactly(Decision.refuse(2, 0, 1000, 1000), Decision.admit(5, 3, MINUTE));
    assertThat(left("a")).isEqualTo(3);
  }

  @Test
  void claimsOnOneCounterSeeEachOther() {
    Outcome outcome = acquire(enforced(charge(five, "a", 3)), enforced(charge(five, "a", 3)));
    assertThat(outcome.admitted()).isFalse();
    assertThat(left("a")).isEqualTo(5);
    assertThat(acquire(enforced(charge(five, "a", 3)), enforced(charge(five, "a", 2))).decisions())
        .containsExactly(Decision.admit(5, 2, MINUTE), Decision.admit(5, 0, MINUTE));
  }

  @Test
  void aRefusedShadowClaimIsReportedButRefusesNothing() {
    Outcome outcome = acquire(enforced(charge(five, "a", 1)), shadow(charge(five, "b", 6)));
    assertThat(outcome.admitted()).isTrue();
    assertThat(outcome.decisions().get(1).admitted()).isFalse();
    assertThat(left("a")).isEqualTo(4);
    assertThat(left("b")).isEqualTo(5);
  }

  @Test
  void aRefusedShadowClaimChargesNoneOfItsLimitsInAnAdmittedRequest() {
    acquire(enforced(charge(five, "c", 1)), shadow(charge(five, "a", 1), charge(five, "b", 6)));
    assertThat(left("a")).isEqualTo(5);
    assertThat(left("c")).isEqualTo(4);
  }

  @Test
  void oneShadowClaimAloneIsReportedButRefusesNothing() {
    Outcome outcome = acquire(shadow(charge(five, "b", 6)));
    assertThat(outcome.admitted()).isTrue();
    assertThat(outcome.decisions()).containsExactly(Decision.refuse(5, 5, MINUTE, Decision.NEVER));
  }

  @Test
  void anAdmittedShadowClaimCountsOnlyWithTheRequest() {
    acquire(enforced(charge(five, "a", 6)), shadow(charge(five, "b", 1)));
    assertThat(left("b")).isEqualTo(5);
    acquire(enforced(charge(five, "a", 5)), shadow(charge(five, "b", 1)));
    assertThat(left("b")).isEqualTo(4);
  }

  @Test
  void aChargeThatFitsOnlyAloneIsReportedAsRefused() {
    Outcome outcome =
        acquire(enforced(charge(five, "a", 3)), enforced(charge(five, "a", 3, Overrun.OVERDRAFT)));
    assertThat(outcome.admitted()).isFalse();
    assertThat(outcome.decisions())
        .containsExactly(
            Decision.admit(5, 5, MINUTE), Decision.refuse(5, 2, MINUTE, Decision.NEVER));
    assertThat(left("a")).isEqualTo(2);
  }

  @Test
  void chargesOfOneCounterWaitUntilTheyFitTogether() {
    Gcra spaced = new Gcra(5, MINUTE);
    Outcome outcome =
        acquire(
            enforced(charge(spaced, "a", 2)),
            enforced(charge(spaced, "a", 2)),
            enforced(charge(spaced, "a", 2)));
    assertThat(outcome.decisions().getLast().neverFits()).isTrue();
    acquire(enforced(charge(spaced, "a", 4)));
    outcome = acquire(enforced(charge(spaced, "a", 1)), enforced(charge(spaced, "a", 2)));
    assertThat(outcome.decisions().getLast().retryAfterMillis()).isEqualTo(2 * MINUTE / 5);
  }

  @Test
  void quotasRefuseOnlyTogether() {
    Charge fits = charge(five, "a", 1);
    Charge never = charge(five, "b", 6);
    assertThat(acquire(quota(fits), quota(never)).admitted()).isTrue();
    assertThat(left("a")).isEqualTo(4);
    assertThat(acquire(quota(never), quota(never)).admitted()).isFalse();
    assertThat(acquire(quota(never)).admitted()).isFalse();
    assertThat(acquire(enforced(fits), quota(never)).admitted()).isFalse();
    assertThat(left("a")).isEqualTo(4);
  }

  @Test
  void refundsCountInARefusedRequest() {
    acquire(enforced(charge(five, "a", 4)));
    Outcome outcome = acquire(enforced(charge(five, "a", -3)), enforced(charge(five, "b", 6)));
    assertThat(outcome.admitted()).isFalse();
    assertThat(outcome.decisions().getFirst()).isEqualTo(Decision.admit(5, 4, MINUTE));
    assertThat(left("a")).isEqualTo(4);
  }

  @ParameterizedTest
  @EnumSource(names = {"OVERDRAFT", "COUNT"})
  void overdraftsCountOnceInARefusedRequest(Overrun overrun) {
    Outcome outcome =
        acquire(
            enforced(charge(five, "a", 2, overrun), charge(five, "b", 7, overrun)),
            enforced(charge(five, "c", 1)));
    assertThat(outcome.admitted()).isFalse();
    assertThat(outcome.decisions())
        .containsExactly(
            Decision.admit(5, 3, MINUTE),
            Decision.refuse(5, 5 - 7, MINUTE, Decision.NEVER),
            Decision.admit(5, 5, MINUTE));
    assertThat(left("a")).isEqualTo(3);
    acquire(enforced(charge(five, "b", -3)));
    assertThat(left("b")).isEqualTo(1);
    assertThat(left("c")).isEqualTo(5);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void decidesLikeSingleChargesForEveryAlgorithm(RateAlgorithm<?> algorithm) {
    InMemoryStore single = new InMemoryStore(new ManualTime(0), 1000);
    for (int i = 0; i < 8; i++) {
      Decision a = single.decide(charge(algorithm, "a", 1));
      Decision b = single.decide(charge(algorithm, "b", 1));
      Outcome both =
          store.decide(
              List.of(enforced(charge(algorithm, "a", 1)), enforced(charge(algorithm, "b", 1))));
      assertThat(both.decisions()).containsExactly(a, b);
      assertThat(both.admitted()).isEqualTo(i < 5);
    }
  }

  @Test
  void aThousandClaimsOnAThousandCountersAreDecidedAsOne() {
    List<Claim> claims =
        IntStream.range(0, 1000).mapToObj(i -> enforced(charge(five, "user" + i, 3))).toList();
    assertThat(store.decide(claims).admitted()).isTrue();
    Outcome second = store.decide(claims);
    assertThat(second.admitted()).isFalse();
    assertThat(second.decisions()).hasSize(1000).allMatch(d -> d.remaining() == 2);
  }

  private Outcome acquire(Claim... claims) {
    return store.decide(List.of(claims));
  }

  private long left(String user) {
    return store.decide(charge(five, user, 0)).remaining();
  }
}
