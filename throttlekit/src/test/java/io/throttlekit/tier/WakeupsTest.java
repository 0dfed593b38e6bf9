package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WakeupsTest {

  private final Wakeups wakeups = new Wakeups(10);

  @Test
  void oneThatRunsAsEarlyServesAll() {
    assertThat(wakeups.begin(at(50), at(0))).isEqualTo(50);
    assertThat(wakeups.begin(at(50), at(0))).isZero();
    assertThat(wakeups.begin(at(200), at(0))).isZero(); // beyond the largest long
    assertThat(wakeups.begin(at(40), at(0))).isEqualTo(40);
  }

  @Test
  void nothingEndsFinerThanThat() {
    assertThat(wakeups.begin(at(-5), at(0))).isEqualTo(10);
    assertThat(wakeups.begin(at(3), at(0))).isZero();
  }

  @Test
  void theLateOneIsNotBegunAgainAfterEachEarlyOne() {
    assertThat(wakeups.begin(3_600_000, 0)).isEqualTo(3_600_000);
    for (long now = 0; now < 10_000; now += 20) {
      assertThat(wakeups.begin(now + 20, now)).isEqualTo(20);
      wakeups.ran(now + 20);
      assertThat(wakeups.begin(3_600_000, now + 20)).isZero();
    }
    wakeups.ran(3_600_000);
    assertThat(wakeups.begin(3_600_010, 3_600_000)).isEqualTo(10);
  }

  @Test
  void thoseThatRunInAnotherOrderAreOverAsWell() {
    wakeups.begin(300, 0);
    wakeups.begin(200, 0);
    wakeups.begin(100, 0);
    wakeups.ran(200);
    wakeups.ran(100);
    assertThat(wakeups.begin(250, 150)).isEqualTo(100);
    wakeups.ran(250);
    assertThat(wakeups.begin(300, 260)).isZero();
  }

  /** A monotonic clock may have any value, also near the largest long. */
  private static long at(long nanos) {
    return Long.MAX_VALUE - 100 + nanos;
  }
}
