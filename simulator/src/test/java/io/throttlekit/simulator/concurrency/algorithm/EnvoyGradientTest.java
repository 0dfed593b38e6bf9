package io.throttlekit.simulator.concurrency.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.Sample;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Compares the model with the documentation of the filter. */
class EnvoyGradientTest {
  private static final int MIN = 3;

  private final EnvoyGradient algorithm = new EnvoyGradient(new SplittableRandom(1)::nextDouble);
  private long now;

  @Test
  void beginsWithAProbeAndThenGrowsByTheGradientAndTheRoot() {
    assertThat(algorithm.isProbing()).isTrue();
    assertThat(algorithm.limit()).isEqualTo(MIN);
    many(50, 10);
    assertThat(algorithm.isProbing()).isFalse();
    assertThat(algorithm.limit()).isEqualTo(MIN);
    many(100, 10); // 1.25: 3.75 + 1.94
    assertThat(algorithm.limit()).isEqualTo(5);
    many(100, 10); // 6.25 + 2.5
    assertThat(algorithm.limit()).isEqualTo(8);
  }

  @Test
  void fallsByAtMostHalfAndProbesAfterFiveMinimumLimits() {
    many(50, 10);
    for (int i = 0; i < 20; i++) {
      many(100, 10);
    }
    int before = algorithm.limit();
    many(100, 1_000);
    assertThat(algorithm.limit()).isEqualTo((int) (before / 2.0 + Math.sqrt(before / 2.0)));
    int updates = 0;
    while (!algorithm.isProbing()) {
      many(100, 1_000);
      assertThat(updates++).isLessThan(100);
    }
    assertThat(algorithm.limit()).isEqualTo(MIN);
  }

  @Test
  void probesAboutOnceAMinuteAndRestoresTheLimit() {
    many(50, 10);
    long measured = now;
    int before = 0;
    while (!algorithm.isProbing()) {
      before = algorithm.limit();
      many(1, 12.5);
    }
    assertThat(TimeUnit.NANOSECONDS.toMillis(now - measured)).isBetween(60_000L, 69_100L);
    assertThat(algorithm.limit()).isEqualTo(MIN);
    now += TimeUnit.SECONDS.toNanos(1);
    many(50, 12.5);
    assertThat(algorithm.limit()).isEqualTo(before);
  }

  /** Adds requests, each begun after the previous one ended, or 1 ms later if that is less. */
  private void many(int requests, double millis) {
    for (int i = 0; i < requests; i++) {
      long rtt = (long) (millis * TimeUnit.MILLISECONDS.toNanos(1));
      now += TimeUnit.MILLISECONDS.toNanos(1);
      algorithm.learn(new Sample(now, rtt, now, 1, false, false));
    }
  }
}
