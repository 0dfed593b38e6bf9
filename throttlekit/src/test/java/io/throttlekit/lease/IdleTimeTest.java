package io.throttlekit.lease;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IdleTimeTest {
  private static final long WINDOW = 8_000;
  private static final long DEFAULT = 30_000;
  private static final long CENTURY = 100L * 365 * 24 * 3_600 * 1_000;

  private final IdleTime ofTenant = new IdleTime(DEFAULT, WINDOW, true);

  @Test
  void withoutTenantsItIsTheConfiguredOne() {
    IdleTime plain = new IdleTime(DEFAULT, WINDOW, false);
    observe(plain, 100, 1);
    assertThat(millis(plain)).isEqualTo(DEFAULT);
    assertThat(retryMillis(plain, 0)).isEqualTo(DEFAULT);
    assertThat(retryMillis(plain, 7)).isEqualTo(DEFAULT);
  }

  @Test
  void ofATenantItIsFromAnEighthToHalfOfTheWindow() {
    assertThat(millis(ofTenant)).as("of a single request").isEqualTo(WINDOW / 2);
    observe(ofTenant, 100, 400);
    assertThat(millis(ofTenant)).isBetween(1_950L, 2_000L);
    observe(ofTenant, 100, 1);
    assertThat(millis(ofTenant)).isEqualTo(WINDOW / 8);
    observe(ofTenant, 100, WINDOW);
    assertThat(millis(ofTenant)).isEqualTo(WINDOW / 2);
  }

  @Test
  void afterALongPauseATenantIsSoonFoundIdleAgain() {
    observe(ofTenant, 100, 1);
    observe(ofTenant, 1, CENTURY);
    assertThat(millis(ofTenant)).isEqualTo(WINDOW / 2);
    observe(ofTenant, 16, 1);
    assertThat(millis(ofTenant)).isEqualTo(WINDOW / 8);
  }

  @Test
  void ofATenantItIsNoLongerThanTheConfiguredOne() {
    assertThat(millis(new IdleTime(500, WINDOW, true))).isEqualTo(500);
    assertThat(retryMillis(new IdleTime(500, WINDOW, true), 0)).isEqualTo(500);
    assertThat(new IdleTime(0, WINDOW, true).isNever()).isTrue();
    assertThat(ofTenant.isNever()).isFalse();
  }

  @Test
  void aTenantThatIsRefusedAgainWaitsFourTimesAsLong() {
    assertThat(retryMillis(ofTenant, 0)).isEqualTo(WINDOW / 4);
    assertThat(retryMillis(ofTenant, 1)).isEqualTo(WINDOW / 4);
    assertThat(retryMillis(ofTenant, 2)).isEqualTo(WINDOW);
    assertThat(retryMillis(ofTenant, 3)).isEqualTo(WINDOW);
    IdleTime brief = new IdleTime(100, 100_000, true);
    assertThat(retryMillis(brief, 3)).isEqualTo(1_600);
  }

  @Test
  void noWindowIsSoLongThatATimeOverflows() {
    IdleTime longest = new IdleTime(CENTURY, CENTURY, true);
    observe(longest, 100, CENTURY);
    assertThat(millis(longest)).isEqualTo(CENTURY / 2);
    assertThat(retryMillis(longest, Integer.MAX_VALUE)).isEqualTo(CENTURY);
    assertThat(retryMillis(new IdleTime(CENTURY, 1, true), Integer.MAX_VALUE)).isEqualTo(1);
  }

  private static void observe(IdleTime idle, int times, long gapMillis) {
    for (int i = 0; i < times; i++) {
      idle.observe(gapMillis * NANOS_PER_MILLI);
    }
  }

  private static long millis(IdleTime idle) {
    return idle.nanos() / NANOS_PER_MILLI;
  }

  private static long retryMillis(IdleTime idle, int refusals) {
    return idle.retryNanos(refusals) / NANOS_PER_MILLI;
  }
}
