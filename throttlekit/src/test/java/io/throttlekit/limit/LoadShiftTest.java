package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoadShiftTest {
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private final LoadShift shift = new LoadShift();
  private final SplittableRandom random = new SplittableRandom(1);
  private long now = Long.MAX_VALUE - 1_000 * MILLI; // monotonic time may overflow

  @Test
  void aSteadyOverloadIsNoShift() {
    requests(2_000, 0.5, 20);
    int shifts = 0;
    for (int i = 0; i < 600; i++) {
      shifts += requests(1_000, 0.5, 20);
    }
    assertThat(shifts).isLessThan(4); // in ten minutes
  }

  @Test
  void theBeginningOfAnOverloadIsOneShift() {
    requests(5_000, 0, 20);
    assertThat(requests(500, 0.6, 20)).isEqualTo(1);
    assertThat(requests(10_000, 0.6, 20)).isZero();
    requests(3_000, 0, 20);
    assertThat(requests(500, 0.6, 20)).as("after a calm time").isEqualTo(1);
  }

  @Test
  void fewRefusalsAreNoShift() {
    requests(5_000, 0, 20);
    assertThat(requests(30_000, 0.02, 20)).isZero();
  }

  @Test
  void aRiseOfLatencyIsAShiftWhileRequestsAreRefused() {
    requests(5_000, 0.5, 20);
    assertThat(requests(200, 0.5, 40)).isBetween(1, 2); // the first one may be of both latencies
    assertThat(requests(2_000, 0.5, 40)).isZero();
  }

  @Test
  void aFallOfLatencyIsAShiftWhileRequestsAreRefused() {
    requests(5_000, 0.5, 30);
    assertThat(requests(300, 0.5, 20)).isEqualTo(1);
    assertThat(requests(2_000, 0.5, 20)).isZero();
  }

  @Test
  void aRiseOfLatencyBelowTheLimitIsNoShift() {
    requests(5_000, 0, 20);
    assertThat(requests(2_000, 0, 40)).isZero();
  }

  /** Sends a request each millisecond. Returns the shifts. */
  private int requests(int number, double refused, double mean) {
    int shifts = 0;
    for (int i = 0; i < number; i++) {
      now += MILLI;
      if (random.nextDouble() < refused) {
        shifts += shift.refused(1, now) ? 1 : 0;
      } else {
        double latency = mean * (0.5 + random.nextDouble());
        shifts += shift.ended((long) (latency * MILLI), now) ? 1 : 0;
      }
    }
    return shifts;
  }
}
