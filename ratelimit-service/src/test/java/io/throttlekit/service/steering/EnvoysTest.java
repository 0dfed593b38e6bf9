package io.throttlekit.service.steering;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.steering.Envoys.Demand;
import org.junit.jupiter.api.Test;

class EnvoysTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;

  private final Envoys envoys = new Envoys();

  @Test
  void believesWhatEnvoysCountThemselves() {
    envoys.reported("a", 7, 0);
    envoys.reported("b", 5, 0);
    envoys.ended("a", 900 * SECOND, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(12);
    envoys.reported("a", 9, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(14);
    envoys.left("b");
    assertThat(envoys.inFlight(0)).isEqualTo(9);
    assertThat(envoys.demands(0)).containsExactly(new Demand("a", 9, 0, true));
  }

  @Test
  void estimatesWhatNobodyCountsByLatencyAndRate() {
    for (int milli = 0; milli < 4_000; milli += 10) { // 100 a second that take 50 ms each
      envoys.ended("a", 50 * MILLI, milli * MILLI);
    }
    assertThat(envoys.inFlight(4 * SECOND)).isEqualTo(5);
    assertThat(envoys.inFlight(9 * SECOND)).isZero();
  }

  @Test
  void whatAnEnvoyCountsTakesThePlaceOfItsEstimate() {
    envoys.ended("a", 900 * SECOND, 0);
    assertThat(envoys.inFlight(0)).isGreaterThan(100);
    envoys.reported("a", 3, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(3);
  }

  @Test
  void whatIsSaidOnceAnHourIsCountedByNeither() {
    envoys.reported("a", 100, 0);
    assertThat(envoys.inFlight(3 * SECOND - 1)).isEqualTo(100);
    assertThat(envoys.inFlight(3 * SECOND + 20 * MILLI)).isZero();
    assertThat(envoys.demands(3 * SECOND + 20 * MILLI)).isEmpty();
  }

  @Test
  void refusalsAreToldOnce() {
    envoys.refused("a", 0);
    envoys.refused("a", 0);
    assertThat(envoys.demands(0)).containsExactly(new Demand("a", 0, 2, false));
    assertThat(envoys.demands(0)).isEmpty();
  }

  @Test
  void absurdNumbersAreNumbers() {
    envoys.reported("a", Long.MIN_VALUE, 0);
    envoys.reported("b", Long.MAX_VALUE, 0);
    envoys.reported("c", Long.MAX_VALUE, 0);
    envoys.ended("d", Long.MAX_VALUE, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(1 << 30);
  }

  @Test
  void aFloodOfNamesIsNotRemembered() {
    for (int i = 0; i < 10_100; i++) {
      envoys.reported("envoy " + i, 1, 0);
    }
    assertThat(envoys.inFlight(0)).isEqualTo(10_000);
  }

  @Test
  void whoIsSilentMakesRoomForOthers() {
    for (int i = 0; i < 10_000; i++) {
      envoys.ended("envoy " + i, MILLI, 0);
    }
    assertThat(envoys.demands(SECOND)).hasSize(10_000);
    assertThat(envoys.demands(6 * SECOND)).isEmpty();
    envoys.reported("new", 1, 6 * SECOND);
    assertThat(envoys.inFlight(6 * SECOND)).isEqualTo(1);
  }
}
