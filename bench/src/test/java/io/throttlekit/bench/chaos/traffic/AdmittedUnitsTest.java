package io.throttlekit.bench.chaos.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.chaos.QuietTime;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.CoordinatorClock;
import io.throttlekit.bench.chaos.fleet.Counter;
import io.throttlekit.bench.chaos.fleet.StoreLoss;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdmittedUnitsTest {
  private static final List<StoreLoss> NO_LOSS = List.of();

  private final CoordinatorClock clock = new CoordinatorClock(1_000);

  @Test
  void aGlobalLimitIsCheckedOverAllRegionsAndARegionalOnePerRegion() {
    AdmittedUnits shared = new AdmittedUnits(counter(true, false), clock);
    AdmittedUnits regional = new AdmittedUnits(counter(false, false), clock);
    for (AdmittedUnits each : List.of(shared, regional)) {
      for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
        each.admitted(process, 1_100, 1_200);
      }
    }
    assertThat(shared.overshoot(NO_LOSS, 0)).isEqualTo(Map.of("k", 4L));
    assertThat(regional.overshoot(NO_LOSS, 0)).isEmpty();
    regional.admitted(5, 1_300, 1_400);
    assertThat(regional.overshoot(NO_LOSS, 0)).isEqualTo(Map.of("k of region 2", 1L));
  }

  @Test
  void aLossAllowsOneMoreLimitInItsRegionAndWindowWhereCountsStartAgain() {
    for (boolean refills : new boolean[] {true, false}) {
      AdmittedUnits units = new AdmittedUnits(counter(false, refills), clock);
      for (int i = 0; i < 5; i++) {
        units.admitted(2, 1_100, 1_200);
      }
      assertThat(overshoot(units, new StoreLoss(1, 1_500, 1_550)))
          .isEqualTo(Map.of("k of region 1", refills ? 1L : 3L));
      assertThat(overshoot(units, new StoreLoss(1, 500, 550), new StoreLoss(1, 2_000, 2_100)))
          .as("in the windows before and after")
          .isEqualTo(Map.of("k of region 1", 3L));
      assertThat(overshoot(units, new StoreLoss(0, 1_500, 1_550), new StoreLoss(2, 1_500, 1_550)))
          .as("in other regions")
          .isEqualTo(Map.of("k of region 1", 3L));
    }
  }

  @Test
  void manyLossesDoNotHideAnOvershootOfAWindowWithoutOne() {
    AdmittedUnits units = new AdmittedUnits(counter(false, true), clock);
    for (int i = 0; i < 4; i++) {
      units.admitted(2, 1_100, 1_200);
      units.admitted(2, 3_100, 3_200);
    }
    units.admitted(2, 5_100, 5_200);
    units.admitted(2, 5_100, 5_200);
    units.admitted(2, 5_100, 5_200);
    assertThat(overshoot(units, new StoreLoss(1, 1_150, 1_160), new StoreLoss(1, 2_990, 3_000)))
        .isEqualTo(Map.of("k of region 1", 1L));
  }

  @Test
  void anEndlessWindowHasOneLimit() {
    Counter endless = new Counter("k", "", true, false, 2, 365_000L * 24 * 3_600_000, 1);
    Admissions admitted = new Admissions(List.of(new AdmittedUnits(endless, clock)));
    for (long at = 1_000; at < 400_000; at += 100_000) {
      admitted.of(0).admitted(0, at, at + 10);
    }
    assertThat(admitted.overshoot(NO_LOSS, 300_000)).isEqualTo(Map.of("k", 2L));
  }

  @Test
  void unitsAdmittedSinceATimeCountInWindowsThatBeganEarlier() {
    Admissions admitted = new Admissions(List.of(new AdmittedUnits(counter(true, false), clock)));
    for (int i = 0; i < 3; i++) {
      admitted.of(0).admitted(0, 10_100, 10_200);
    }
    var overshoot = admitted.overshootSince(NO_LOSS, 10_500);
    assertThat(overshoot.applyAsLong(NO_LOSS)).as("before that time").isZero();
    admitted.of(0).admitted(0, 10_600, 10_700);
    for (int i = 0; i < 4; i++) {
      admitted.of(0).admitted(0, 11_100, 11_200);
    }
    assertThat(overshoot.applyAsLong(NO_LOSS)).isEqualTo(1 + 2);
  }

  @Test
  void afterAStepOfTheCoordinatorUnitsMayBeOfAWindowOfEitherClock() {
    AdmittedUnits units = new AdmittedUnits(counter(true, false), clock);
    units.admitted(0, 10_100, 10_200);
    units.admitted(0, 10_100, 10_200);
    assertThat(clock.step(10_300, 700)).isEqualTo(700);
    units.admitted(0, 10_350, 10_400); // window 11 by the old clock, 12 by the new one
    units.admitted(0, 10_350, 10_400);
    assertThat(units.overshoot(NO_LOSS, 0)).isEmpty();
    units.admitted(0, 10_500, 10_600);
    assertThat(units.overshoot(NO_LOSS, 0)).isEqualTo(Map.of("k", 1L));
    for (int i = 0; i < 3; i++) {
      // The old clock no longer counts: by the new one it is 13,010.
      units.admitted(0, 12_310, 12_311);
    }
    assertThat(units.overshoot(NO_LOSS, 0)).isEqualTo(Map.of("k", 1L));
    assertThat(units.windows()).extracting(each -> each.endMillis()).contains(14_000L);
  }

  @Test
  void utilizationIsOfWholeWindows() {
    AdmittedUnits units = new AdmittedUnits(counter(true, false), clock);
    units.admitted(0, 10_900, 10_950);
    for (long at = 11_100; at < 14_000; at += 1_000) {
      units.admitted(0, at, at);
    }
    assertThat(units.utilization(10_500, 14_500)).isEqualTo(.5);
    assertThat(units.utilization(10_500, 10_600)).isNaN();
  }

  @Test
  void quietWindowsLieCompletelyInAQuietTime() {
    AdmittedUnits units = new AdmittedUnits(counter(true, false), clock);
    units.admitted(0, 11_100, 11_100);
    units.admitted(0, 13_100, 13_100);
    assertThat(new QuietTime(10_500, 14_500).windows(units.windows(), 1_000))
        .containsExactly(1L, 0L, 1L);
  }

  private static Map<String, Long> overshoot(AdmittedUnits units, StoreLoss... losses) {
    return units.overshoot(List.of(losses), 0);
  }

  private static Counter counter(boolean global, boolean refills) {
    return new Counter("k", "", global, refills, 2, 1_000, 1);
  }
}
