package io.throttlekit.limit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigestedLimitTest {
  private final DigestedLimit limit = DigestedLimit.ofFleet(20);

  @ParameterizedTest
  @ValueSource(longs = {0, -5_000_000_000L, Long.MAX_VALUE - 300_000_000})
  void thePeakIsThatOfASecondHoweverOftenDigestsAreTaken(long origin) {
    learn(origin, 9);
    assertThat(taken().inFlight()).isEqualTo(9);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(100), 3);
    assertThat(taken().inFlight()).as("0.1 s later").isEqualTo(9);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(800), 4);
    assertThat(taken().inFlight()).as("0.8 s later").isEqualTo(9);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(1_100), 2);
    assertThat(taken().inFlight()).as("1.1 s later").isEqualTo(4);
    learn(origin + TimeUnit.MILLISECONDS.toNanos(9_000), 1);
    assertThat(taken().inFlight()).as("9 s later").isEqualTo(1);
  }

  @Test
  void samplesAreTakenOnce() {
    learn(0, 1);
    learn(1, 1);
    assertThat(taken().answered()).isEqualTo(2);
    assertThat(limit.take()).isNull();
  }

  private void learn(long nowNanos, int inFlight) {
    long rtt = TimeUnit.MILLISECONDS.toNanos(20);
    limit.learn(new Sample(nowNanos - rtt, rtt, nowNanos, inFlight, false, false));
  }

  private SampleDigest taken() {
    return requireNonNull(limit.take());
  }
}
