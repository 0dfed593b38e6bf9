package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.ManualTime;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsageTrackerTest {
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final ManualTime time = new ManualTime(0);

  @Test
  void row39AUserWithHighUsageHasALowLevelOfItsPriority() {
    UsageTracker usage = new UsageTracker(time, MINUTE, 10);
    usage.used("user1", 100);
    usage.used("user2", 200);
    assertThat(usage.level("user1", Priority.MEDIUM)).as("not calibrated").isEqualTo(299);
    usage.calibrate();
    assertThat(usage.level("user1", Priority.MEDIUM)).isEqualTo(299);
    assertThat(usage.level("user2", Priority.MEDIUM)).isEqualTo(249);
    assertThat(usage.level("user2", Priority.VERY_HIGH)).isEqualTo(449);
    usage.used("user3", 300);
    assertThat(usage.level("user3", Priority.MEDIUM)).as("came later").isEqualTo(299);
    assertThat(usage.level("unknown", Priority.MEDIUM)).isEqualTo(299);
  }

  @ParameterizedTest
  @CsvSource({
    "'', 100, 0",
    "'100', 100, 0",
    "'100', 50, 0",
    "'100', 150, 1",
    "'10 50 100', 10, 0",
    "'10 50 100', 50, .33",
    "'10 50 100', 100, .67",
    "'10 50 100', 200, 1"
  })
  void row40AQuantileIsTheFractionOfUsersWithLessUsage(String sorted, long usage, double quantile) {
    long[] usages =
        sorted.isEmpty()
            ? new long[0]
            : Arrays.stream(sorted.split(" ")).mapToLong(Long::parseLong).toArray();
    assertThat(UsageTracker.quantile(usage, usages)).isEqualTo(quantile);
  }

  @Test
  void row41BeyondItsCapacityTheLeastRecentUsersAreEvicted() {
    UsageTracker usage = new UsageTracker(time, MINUTE, 2);
    usage.used("user1", 100);
    usage.used("user2", 200);
    usage.used("user1", 50);
    usage.used("user3", 300);
    assertThat(usage.usage("user1")).isEqualTo(150);
    assertThat(usage.usage("user2")).isZero();
    assertThat(usage.usage("user3")).isEqualTo(300);
    usage.used("user4", 400);
    assertThat(usage.usage("user1")).isZero();
    assertThat(usage.users).hasSize(2);
  }

  @Test
  void row42UsageExpiresSliceBySlice() {
    long second = TimeUnit.SECONDS.toNanos(1);
    UsageWindow window = new UsageWindow(4, second, 900_000_000);
    assertThat(window.total(900_000_000)).isZero();
    assertThat(after(window, 900, 100, 200, 150, 300, 250)).isEqualTo(1_000);
    assertThat(after(window, 1_000, 400, 500)).isEqualTo(1_900);
    assertThat(after(window, 2_500, 600, 700, 800)).isEqualTo(4_000);
    assertThat(after(window, 3_100, 50, 75)).isEqualTo(4_125);
    assertThat(after(window, 5_400, 500)).isEqualTo(2_725);
    assertThat(after(window, 7_300, 300, 400)).isEqualTo(1_200);
    assertThat(after(window, 22_500)).isZero();
    assertThat(after(window, 23_100, 500, 750, 250)).isEqualTo(1_500);
  }

  @Test
  void theClocksOriginDoesNotMatter() {
    long second = TimeUnit.SECONDS.toNanos(1);
    UsageWindow window = new UsageWindow(4, second, -2 * second);
    window.add(1, -2 * second);
    window.add(2, -1);
    window.add(4, 0);
    assertThat(window.total(2 * second - 1)).isEqualTo(7);
    assertThat(window.total(2 * second)).isEqualTo(6);
    assertThat(window.total(3 * second)).isEqualTo(4);
  }

  @Test
  void aUserIdleForTwoWindowsIsEvicted() {
    UsageTracker usage = new UsageTracker(time, MINUTE, 10);
    usage.used("user1", 100);
    usage.used("user2", 200);
    usage.calibrate();
    time.advance(60_000);
    usage.used("user1", 100);
    assertThat(usage.level("user2", Priority.LOW)).as("no recent usage").isEqualTo(199);
    time.advance(60_001);
    usage.calibrate();
    assertThat(usage.users).hasSize(1);
    time.advance(60_000);
    usage.calibrate();
    assertThat(usage.users).isEmpty();
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new UsageTracker(time, 29, 1)).hasMessageContaining("29");
    assertThatThrownBy(() -> new UsageTracker(time, 30, 0)).hasMessageContaining("0");
    assertThatThrownBy(() -> new UsageTracker(time, Long.MAX_VALUE, 1))
        .hasMessageContaining("" + Long.MAX_VALUE);
  }

  private static long after(UsageWindow window, long millis, long... usages) {
    long now = TimeUnit.MILLISECONDS.toNanos(millis);
    for (long usage : usages) {
      window.add(usage, now);
    }
    return window.total(now);
  }
}
