package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.concurrency.envoy.Envoys.Demand;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EnvoysTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;

  private static final ThreadMXBean PROCESSOR = ManagementFactory.getThreadMXBean();

  private final Envoys envoys = new Envoys();

  @Test
  void usesCountsReportedByEnvoys() {
    envoys.reported("a", 1, 7, 0);
    envoys.reported("b", 1, 5, 0);
    envoys.ended("a", 900 * SECOND, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(12);
    envoys.reported("a", 1, 9, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(14);
    envoys.left("b", 1);
    assertThat(envoys.inFlight(0)).isEqualTo(9);
    assertThat(envoys.demands(0)).containsExactly(new Demand("a", 9, 0, true, 0));
  }

  @Test
  void sumsTheOpenStreamsOfANode() {
    envoys.reported("a", 1, 7, 0);
    envoys.reported("a", 2, 5, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(12);
    envoys.reported("a", 2, 6, 0);
    envoys.left("a", 1);
    assertThat(envoys.inFlight(0)).isEqualTo(6);
    envoys.left("a", 3);
    assertThat(envoys.inFlight(0)).isEqualTo(6);
    assertThat(envoys.inFlight(3 * SECOND)).isZero();
  }

  /** Otherwise a client could remove the data of another Envoy with a stream of its own. */
  @Test
  void theEndOfAStreamKeepsTheEstimateFromTheLog() {
    envoys.ended("a", 40 * SECOND, 0);
    int estimated = envoys.inFlight(0);
    envoys.reported("a", 1, 0, 0);
    envoys.left("a", 1);
    assertThat(envoys.inFlight(0)).isEqualTo(estimated).isPositive();
  }

  @Test
  void inventedNamesDoNotDisplaceAnEnvoyWithAShare() {
    for (int i = 0; i < 20_000; i++) {
      envoys.ended("invented-" + i, SECOND, 0);
    }
    envoys.reported("late", 1, 3, 0);
    assertThat(envoys.demands(0)).hasSize(10_000);
    envoys.granted(Map.of("edge", 5L));
    envoys.reported("edge", 1, 4, 0);
    assertThat(envoys.demands(0)).contains(new Demand("edge", 4, 0, true, 0)).hasSize(10_001);
  }

  @Test
  void noEnvoyHasMoreInFlightThanItWasGranted() {
    envoys.granted(Map.of("a", 10L, "b", 10L));
    envoys.reported("a", 1, 4, 0);
    envoys.reported("b", 1, 1 << 30, 0);
    envoys.reported("b", 2, 1 << 30, 0);
    envoys.reported("invented", 1, 1 << 30, 0);
    envoys.ended("logged", 900 * SECOND, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(14);
    assertThat(envoys.mayHaveInFlight("b")).isTrue();
    assertThat(envoys.mayHaveInFlight("invented")).isFalse();
    envoys.granted(Map.of("a", 3L, "invented", 1L));
    assertThat(envoys.inFlight(0)).isEqualTo(4);
  }

  @Test
  void anExpiredEnvoyIsNotInTheSum() {
    envoys.reported("a", 1, 7, 0);
    envoys.reported("b", 1, 5, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(12);
    envoys.reported("b", 1, 5, 3 * SECOND - 20 * MILLI);
    assertThat(envoys.demands(3 * SECOND)).hasSize(1);
    assertThat(envoys.inFlight(3 * SECOND)).isEqualTo(5);
  }

  @Test
  void estimatesUnreportedInFlightByLatencyAndRate() {
    for (int milli = 0; milli < 4_000; milli += 10) { // 100 a second that take 50 ms each
      envoys.ended("a", 50 * MILLI, milli * MILLI);
    }
    assertThat(envoys.inFlight(4 * SECOND)).isEqualTo(5);
    assertThat(envoys.inFlight(9 * SECOND)).isZero();
  }

  @Test
  void aReportedCountReplacesTheEstimate() {
    envoys.ended("a", 900 * SECOND, 0);
    assertThat(envoys.inFlight(0)).isGreaterThan(100);
    envoys.reported("a", 1, 3, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(3);
  }

  @Test
  void anOutdatedReportIsIgnored() {
    envoys.reported("a", 1, 100, 0);
    assertThat(envoys.inFlight(3 * SECOND - 1)).isEqualTo(100);
    assertThat(envoys.inFlight(3 * SECOND + 20 * MILLI)).isZero();
    assertThat(envoys.demands(3 * SECOND + 20 * MILLI)).isEmpty();
  }

  /** The ends of another replica's streams may be lost, while their Envoy still reports. */
  @Test
  void outdatedReportsAreForgottenWhileTheirEnvoyReports() {
    for (int stream = 1; stream <= 100; stream++) {
      envoys.reported("a", stream, 1, 0);
    }
    envoys.reported("a", 101, 1, 3 * SECOND);
    assertThat(envoys.reports("a")).isEqualTo(101);
    assertThat(envoys.demands(3 * SECOND)).hasSize(1);
    assertThat(envoys.reports("a")).isOne();
  }

  /** A replica may report 4,000 a time, and their ends may be lost. */
  @Test
  void manyStreamsOfOneEnvoyAreCountedOnce() {
    long few = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      few = Math.min(few, processorNanosOf(5_000));
    }
    assertThat(processorNanosOf(100_000))
        .as("of 20 times as many; 400 times as long if each report counted all")
        .isLessThan(100 * few);
  }

  private static long processorNanosOf(int streams) {
    Envoys envoys = new Envoys();
    long began = PROCESSOR.getCurrentThreadCpuTime();
    for (int stream = 1; stream <= streams; stream++) {
      envoys.reported("a", stream, 1, 0);
    }
    assertThat(envoys.inFlight(0)).isEqualTo(streams);
    for (int stream = 1; stream <= streams; stream++) {
      envoys.reported("a", stream, stream <= 4 ? 5 : 0, SECOND);
    }
    assertThat(envoys.inFlight(SECOND)).isEqualTo(20);
    return PROCESSOR.getCurrentThreadCpuTime() - began;
  }

  @Test
  void aReportThatReplacesAnOutdatedOneCounts() {
    envoys.reported("a", 1, 100, 0);
    envoys.reported("a", 2, 7, 2 * SECOND);
    assertThat(envoys.inFlight(2 * SECOND)).isEqualTo(107);
    envoys.reported("a", 1, 3, 4 * SECOND);
    assertThat(envoys.inFlight(4 * SECOND)).isEqualTo(10);
    envoys.reported("a", 1, 4, 4 * SECOND);
    assertThat(envoys.inFlight(4 * SECOND)).isEqualTo(11);
  }

  @Test
  void refusalsAreReportedOnce() {
    envoys.refused("a", 0);
    envoys.refused("a", 0);
    assertThat(envoys.demands(0)).containsExactly(new Demand("a", 0, 2, false, 0));
    assertThat(envoys.demands(0)).isEmpty();
  }

  @Test
  void sumsWhatAllWereGranted() {
    assertThat(envoys.granted()).as("before shares are known").isEqualTo(1 << 30);
    envoys.granted(Map.of("a", 10L, "b", 30L));
    assertThat(envoys.granted()).isEqualTo(40);
    envoys.granted(Map.of("a", 1L << 40));
    assertThat(envoys.granted()).isEqualTo(1 << 30);
  }

  @Test
  void extremeNumbersAreHandled() {
    envoys.reported("a", 1, Long.MIN_VALUE, 0);
    envoys.reported("b", 1, Long.MAX_VALUE, 0);
    envoys.reported("c", 1, Long.MAX_VALUE, 0);
    envoys.ended("d", Long.MAX_VALUE, 0);
    assertThat(envoys.inFlight(0)).isEqualTo(1 << 30);
  }

  @Test
  void theNumberOfNamesIsBounded() {
    for (int i = 0; i < 10_100; i++) {
      envoys.reported("envoy " + i, 1, 1, 0);
    }
    assertThat(envoys.inFlight(0)).isEqualTo(10_000);
  }

  @Test
  void silentEnvoysAreEvictedForOthers() {
    for (int i = 0; i < 10_000; i++) {
      envoys.ended("envoy " + i, MILLI, 0);
    }
    assertThat(envoys.demands(SECOND)).hasSize(10_000);
    assertThat(envoys.demands(6 * SECOND)).isEmpty();
    envoys.reported("new", 1, 1, 6 * SECOND);
    assertThat(envoys.inFlight(6 * SECOND)).isEqualTo(1);
  }
}
