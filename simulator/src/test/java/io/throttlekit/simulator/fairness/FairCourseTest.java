package io.throttlekit.simulator.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Seed 1 of the published scenarios, in virtual time. */
class FairCourseTest {
  private static final int GOLD = 0;
  private static final int BRONZE = 2;

  @Test
  void aFloodStarvesOthersOnlyWithoutFairShares() {
    assertThat(play("next-window", Sharing.firstCome()).worstShortfall()).isGreaterThan(0.8);
    assertThat(play("next-window", Sharing.fair()).worstShortfall()).isLessThan(0.01);
    assertThat(play("next-window", Sharing.fair()).jain()).isGreaterThan(0.99);
  }

  @Test
  void fairSharesLendWhatStaticLimitsLeaveUnused() {
    FairCourse fair = play("next-window", Sharing.fair());
    assertThat(play("next-window", Sharing.staticLimits()).utilization()).isLessThan(0.85);
    assertThat(fair.utilization()).isGreaterThan(0.95);
    assertThat(fair.admitted(BRONZE, 6)).isEqualTo(100); // gold was seen in window 5
    assertThat(fair.admitted(BRONZE, 7)).isEqualTo(234); // gold is absent: a third, and a unit lent
  }

  @Test
  void aTenantThatComesBackWithinAWindowHasWhatIsUnspentAndItsWholePartInTheNext() {
    FairCourse fair = play("same-window", Sharing.fair());
    assertThat(fair.admitted(GOLD, 15)).isLessThan(10);
    for (int window = 16; window < 25; window++) {
      assertThat(fair.admitted(GOLD, window)).isGreaterThan(390); // of a demand of 450 on average
    }
  }

  @Test
  void aTenantThatComesBackWithANewWindowHasItsPartAtOnce() {
    assertThat(play("next-window", Sharing.fair()).admitted(GOLD, 15)).isGreaterThan(390);
  }

  @Test
  void aTenantThatAsksLateInEachWindowHasItsPartOnlyIfItsReserveIsCarriedOver() {
    assertThat(play("second-half", Sharing.forgetful()).worstShortfall()).isGreaterThan(0.9);
    FairCourse fair = play("second-half", Sharing.fair());
    for (int window = 1; window < 30; window++) {
      assertThat(fair.admitted(GOLD, window)).isGreaterThanOrEqualTo(400);
    }
  }

  /** As published; tenants that keep a reserve for one window more leave the idle window unused. */
  @Test
  void withoutCarryOverTheLimitIsUsedUpAlsoInWindowsInWhichATenantIsIdle() {
    FairCourse published = play("idle-every-fifth", Sharing.forgetful());
    assertThat(published.utilization()).isGreaterThan(0.999);
    assertThat(published.worstShortfall()).isLessThan(0.01);
    assertThat(play("idle-every-fifth", Sharing.fair()).utilization()).isBetween(0.88, 0.89);
  }

  private static FairCourse play(String name, Sharing sharing) {
    FairScenario scenario =
        FairScenario.all().stream()
            .filter(one -> one.name().equals(name))
            .findFirst()
            .orElseThrow();
    return FairCourse.play(scenario, sharing, 1);
  }
}
