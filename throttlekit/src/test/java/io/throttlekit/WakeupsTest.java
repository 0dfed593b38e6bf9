package io.throttlekit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WakeupsTest {

  /** The timers that have not run, by their length. */
  private final Map<Long, Runnable> timers = new HashMap<>();

  private final Wakeups wakeups = new Wakeups(timers::put, 10, () -> {});

  @Test
  void anEarlierWakeupServesLaterOnes() {
    assertThat(begun(at(50), at(0))).isEqualTo(50);
    assertThat(begun(at(50), at(0))).isZero();
    assertThat(begun(at(200), at(0))).isZero(); // beyond the largest long
    assertThat(begun(at(40), at(0))).isEqualTo(40);
  }

  @Test
  void delaysAreRoundedUpToTheResolution() {
    assertThat(begun(at(-5), at(0))).isEqualTo(10);
    assertThat(begun(at(3), at(0))).isZero();
  }

  @Test
  void aLateWakeupIsNotRescheduledAfterEachEarlyOne() {
    assertThat(begun(3_600_000, 0)).isEqualTo(3_600_000);
    for (long now = 0; now < 10_000; now += 20) {
      assertThat(begun(now + 20, now)).isEqualTo(20);
      run(20);
      assertThat(begun(3_600_000, now + 20)).isZero();
    }
    run(3_600_000);
    assertThat(begun(3_600_010, 3_600_000)).isEqualTo(10);
  }

  @Test
  void wakeupsThatRunOutOfOrderAreCompleted() {
    begun(300, 0);
    begun(200, 0);
    begun(100, 0);
    run(200);
    run(100);
    assertThat(begun(250, 150)).isEqualTo(100);
    run(100);
    assertThat(begun(300, 260)).isZero();
  }

  @Test
  void eachRunsItsTask() {
    int[] woken = {0};
    Wakeups counted = new Wakeups((_, task) -> task.run(), 10, () -> woken[0]++);
    counted.by(100, 0);
    counted.by(200, 150);
    assertThat(woken[0]).isEqualTo(2);
  }

  /** Returns how long a timer takes that this starts; 0 for none. */
  private long begun(long endNanos, long nowNanos) {
    Map<Long, Runnable> before = new HashMap<>(timers);
    wakeups.by(endNanos, nowNanos);
    return timers.keySet().stream()
        .filter(nanos -> !before.containsKey(nanos))
        .findAny()
        .orElse(0L);
  }

  private void run(long nanos) {
    requireNonNull(timers.remove(nanos)).run();
  }

  /** A monotonic clock may have any value, also near the largest long. */
  private static long at(long nanos) {
    return Long.MAX_VALUE - 100 + nanos;
  }
}
