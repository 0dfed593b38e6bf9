package io.throttlekit.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.testkit.WindowTally.Window;
import java.util.List;
import org.junit.jupiter.api.Test;

class WindowTallyTest {
  private final WindowTally tally = new WindowTally(1_000, 2);

  @Test
  void aRequestWithinAWindowCountsInIt() {
    tally.admitted(0, 1_000, 1_999);
    tally.admitted(1, 1_500, 1_500);
    tally.admitted(1, 2_000, 2_001);
    assertThat(tally.windows())
        .containsExactly(
            new Window(2_000, List.of(1L, 1L), 0), new Window(3_000, List.of(0L, 1L), 0));
    assertThat(tally.overshoot(2)).isZero();
    assertThat(tally.overshoot(1)).isOne();
    assertThat(tally.overshoot(0)).isEqualTo(3);
  }

  @Test
  void aRequestAcrossABoundaryMayCountInEitherWindow() {
    tally.admitted(0, 1_999, 2_000);
    assertThat(tally.windows())
        .containsExactly(
            new Window(2_000, List.of(0L, 0L), 1), new Window(3_000, List.of(0L, 0L), 1));
    assertThat(tally.window(3_000).mayHave(0)).isTrue();
    assertThat(tally.window(3_000).mayHave(1)).isTrue();
    assertThat(tally.window(3_000).mayHave(2)).isFalse();
  }

  @Test
  void aRequestCountsWithItsCost() {
    tally.admitted(0, 1_000, 1_999, 5);
    tally.admitted(1, 1_999, 2_000, 7);
    assertThat(tally.windows())
        .containsExactly(
            new Window(2_000, List.of(5L, 0L), 7), new Window(3_000, List.of(0L, 0L), 7));
    assertThat(tally.overshoot(6)).isZero();
    assertThat(tally.overshoot(5)).isEqualTo(2);
  }

  @Test
  void aRequestAcrossABoundaryIsAssignedToAWindowWithRoom() {
    admitted(3, 1_500, 1_500);
    admitted(2, 1_999, 2_001);
    admitted(1, 2_500, 2_500);
    assertThat(tally.overshoot(3)).isZero();
  }

  @Test
  void aRequestAcrossABoundaryWithoutRoomExceedsTheLimit() {
    admitted(3, 1_500, 1_500);
    admitted(2, 1_999, 2_001);
    admitted(2, 2_500, 2_500);
    admitted(1, 3_500, 3_500); // whose window has places, which are none for the others
    assertThat(tally.overshoot(3)).isOne();
    assertThat(tally.units(2_000, 3_000)).isEqualTo(7);
    assertThat(tally.units(3_000, 4_000)).isEqualTo(3);
    assertThat(tally.unitsAtMost(2_000, 3_000)).isEqualTo(7);
    assertThat(tally.unitsAtMost(3_000, 4_000)).isEqualTo(5);
  }

  @Test
  void emptyWindowsDoNotHideAnOvershoot() {
    admitted(4, 5_500, 5_500);
    admitted(1, 1_500, 9_500);
    assertThat(tally.overshoot(3)).isOne();
  }

  @Test
  void aHigherLimitOfOneWindowDoesNotApplyToAnother() {
    admitted(5, 1_500, 1_500);
    admitted(3, 2_500, 2_500);
    admitted(5, 3_500, 3_500);
    assertThat(tally.overshoot(0, end -> end == 2_000 ? 5 : 3)).isEqualTo(2);
    assertThat(tally.overshoot(0, end -> end == 2_000 || end == 4_000 ? 5 : 3)).isZero();
    admitted(2, 2_999, 3_001);
    assertThat(tally.overshoot(0, end -> end == 2_000 ? 7 : end == 4_000 ? 5 : 3)).isEqualTo(2);
    assertThat(tally.overshoot(0, end -> end == 4_000 ? 7 : 5)).isZero();
    assertThat(tally.overshoot(1_999, _ -> 3)).as("5, 3, 5 and 2 between").isEqualTo(6);
    assertThat(tally.overshoot(2_000, _ -> 3)).as("3, 5 and 2 between").isEqualTo(4);
  }

  private void admitted(int requests, long askedMillis, long answeredMillis) {
    for (int i = 0; i < requests; i++) {
      tally.admitted(0, askedMillis, answeredMillis);
    }
  }
}
