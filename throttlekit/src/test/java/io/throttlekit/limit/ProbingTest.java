package io.throttlekit.limit;

import static io.throttlekit.limit.Samples.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.Probing.Outcome;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** 40 requests in 40 ms before the measurement, whose first limit is 28 and least limit 4. */
class ProbingTest {
  private static final double LATENCY = 40;
  private static final double INTERVAL = 60_000;

  /** A measurement of 50 requests. */
  private static final ProbedVegasLimit.Settings FIFTY = settings(50, 50);

  private final AppliedLimit applied = new AppliedLimit(40);

  /** Of time in ms, which may overflow in ns. */
  private long origin;

  private double now;
  private Probing probing = probing(FIFTY);

  /** One ms per request in flight, and 20 in service. */
  @ParameterizedTest
  @ValueSource(longs = {0, -5_000_000_000L, Long.MAX_VALUE, Long.MAX_VALUE - 200_000_000})
  void descendsInGrowingStepsWhileThroughputStays(long begin) {
    origin = begin;
    probing = probing(FIFTY);
    assertThat(probing.limit()).isEqualTo(28);
    assertThat(measured(28)).isNull();
    assertThat(probing.limit()).isEqualTo(17); // 0.64
    assertThat(measured(17)).isNull();
    assertThat(probing.limit()).isEqualTo(6); // 0.41
    assertThat(measured(20)).isEqualTo(new Outcome.Measured(20e6));
    assertThat(probing.limit()).isEqualTo(6);
  }

  @Test
  void theThirdStepIsASixth() {
    probing = probing(200, 400 / 400e6, 400, FIFTY); // 400 in 400 ms
    measured(200);
    assertThat(probing.limit()).isEqualTo(128);
    measured(128);
    assertThat(probing.limit()).isEqualTo(52);
    measured(52);
    assertThat(probing.limit()).isEqualTo(8); // 0.17
    measured(8);
    assertThat(probing.limit()).isEqualTo(4);
    assertThat(measured(3)).isEqualTo(new Outcome.AtMost(1.875e6)); // the least limit
  }

  /** Servers are idle, and another step would only cost. */
  @Test
  void endsWhenThroughputFalls() {
    double barely = 28 / 0.8701; // 87 % of the throughput before
    assertThat(measured(barely)).isNull();
    probing = probing(FIFTY);
    double enough = 28 / 0.8699;
    assertThat(measured(enough)).isEqualTo(new Outcome.Measured(ms(enough)));
  }

  /** If each step lowers throughput a little, the throughput before the first one counts. */
  @Test
  void aGradualFallOfThroughputIsDetected() {
    assertThat(measured(28 / 0.95)).isNull();
    assertThat(measured(17 / 0.9)).isNull();
    assertThat(measured(6 / 0.86)).isInstanceOf(Outcome.Measured.class);
  }

  /** If the servers are busy there, they serve five eighths of the requests in flight at most. */
  @ParameterizedTest(name = "{0} of the throughput")
  @CsvSource({"2, 0.625", "1, 0.625", "0.935, 0.8125", "0.8701, 1"})
  void endsAtTheLeastLimit(double throughput, double served) {
    probing = probing(3, 1e-6, LATENCY, FIFTY);
    assertThat(probing.limit()).isEqualTo(4);
    double latency = 4 / throughput; // ms
    assertThat(measured(latency))
        .isInstanceOfSatisfying(
            Outcome.AtMost.class,
            bound -> assertThat(bound.nanos()).isCloseTo(served * latency * 1e6, within(1e4)));
  }

  @Test
  void keepsWhatWasBeforeIt() {
    measured(28);
    measured(17);
    assertThat(probing.initialThroughput()).isEqualTo(1e-6);
    assertThat(probing.initialLatency()).isEqualTo(40e6);
    assertThat(probing.duration(origin + ms(700))).isEqualTo(ms(700));
  }

  /** Whenever it began: if only later requests counted, the first to end would be the shortest. */
  @Test
  void aRequestCountsIfItEndsTwoLatenciesAfterTheLimitWasLowered() {
    for (int i = 0; i < 500; i++) {
      assertThat(ended(79.999, 1)).isNull();
    }
    for (int i = 0; i < 49; i++) {
      assertThat(ended(80, 100)).isNull(); // it began before
    }
    assertThat(ended(80, 100)).as("much longer than before").isNull();
    assertThat(probing.limit()).as("the same step again").isEqualTo(28);
  }

  @Test
  void aStepCountsFromTwoOfTheLatenciesOfTheStepBefore() {
    measured(28);
    double lowered = now;
    for (int i = 0; i < 500; i++) {
      assertThat(ended(lowered + 55.9, 1)).isNull();
    }
    assertThat(measuredFrom(lowered + 56, 20)).isEqualTo(new Outcome.Measured(20e6));
  }

  /** Two latencies of 8 s are more than a quarter of the timeout of a step. */
  @Test
  void withALastingQueueOnlyRequestsThatBeganBelowTheLimitCount() {
    probing = probing(28, 40 / 8e9, 8_000, FIFTY);
    for (int i = 0; i < 100; i++) {
      assertThat(ended(7_999, 8_000)).isNull();
    }
    for (int i = 0; i < 100; i++) {
      assertThat(ended(7_499, 1)).as("not before 7.5 s").isNull();
    }
    assertThat(measuredFrom(8_000, 8_000)).isEqualTo(new Outcome.Measured(8e9));
  }

  @ParameterizedTest
  @CsvSource({"3750, true", "3751, false"})
  void aQueueLastsIfTwoLatenciesExceedAQuarterOfTheTimeout(double latency, boolean counts) {
    probing = probing(28, 28 / (0.9 * ms(latency)), latency, FIFTY);
    Outcome outcome = null;
    for (int i = 0; i < 50; i++) {
      outcome = ended(7_500, 7_600); // began before
    }
    assertThat(probing.timedOut(origin + ms(7_500))).isNull();
    assertThat(outcome).isNull();
    // If they counted, they were too long, and the step began again.
    for (int i = 0; i < 50; i++) {
      outcome = ended(7_600, 100);
    }
    assertThat(outcome == null && probing.limit() == 28).isEqualTo(counts);
  }

  @Nested
  class WithLimitersThatAcknowledge {
    WithLimitersThatAcknowledge() {
      applied.acknowledged(40);
      probing = probing(FIFTY);
    }

    @Test
    void nothingCountsBeforeAnAcknowledgement() {
      assertThat(measured(20)).isNull();
      probing.acknowledged(29, origin + ms(now)); // more than the limit
      assertThat(measured(20)).isNull();
      assertThat(probing.isAcknowledged()).isFalse();
      assertThat(probing.limit()).isEqualTo(28);
      acknowledge(28);
      assertThat(probing.isAcknowledged()).isTrue();
      assertThat(measuredFrom(now + 680, 36)).isEqualTo(new Outcome.Measured(36e6));
    }

    /** 600 ms, and two latencies. */
    @Test
    void requestsCountWithAMarginAfterTheAcknowledgement() {
      now = 1_000;
      acknowledge(28);
      for (int i = 0; i < 500; i++) {
        assertThat(ended(1_679.999, 1)).isNull();
      }
      assertThat(measuredFrom(1_680, 36)).isEqualTo(new Outcome.Measured(36e6));
    }

    @Test
    void anAcknowledgementIsNoOlderThanTheLimit() {
      probing.acknowledged(28, origin - ms(5_000));
      for (int i = 0; i < 500; i++) {
        assertThat(ended(679.999, 1)).isNull();
      }
      assertThat(measuredFrom(680, 36)).isEqualTo(new Outcome.Measured(36e6));
    }

    @Test
    void throughputIsThatOfAdmittedRequestsNotOfTheLimit() {
      acknowledge(10);
      now += 600;
      // 10 in 12 ms are less than 87 % of 40 in 40, and 28 would be more
      assertThat(measured(12)).isEqualTo(new Outcome.Measured(12e6));
    }

    @Test
    void throughputIsThatOfTheHighestSumThatIsAcknowledged() {
      acknowledge(10); // one limiter has not acknowledged
      acknowledge(28);
      acknowledge(10); // still not
      now += 600;
      assertThat(measured(28)).isNull();
      assertThat(probing.limit()).isEqualTo(17);
    }

    @Test
    void aSumAboveTheLimitCountsAsTheLimit() {
      acknowledge(10);
      acknowledge(90);
      now += 600;
      assertThat(measured(34)).isEqualTo(new Outcome.Measured(34e6)); // 28 in 34 ms
    }

    @Test
    void noRequestsAreOne() {
      acknowledge(0);
      now += 600;
      assertThat(measured(20)).isEqualTo(new Outcome.Measured(20e6));
    }

    @Test
    void aLimitThatIsLowEnoughAlreadyIsNotAcknowledgedAgain() {
      applied.acknowledged(20);
      probing = probing(FIFTY);
      assertThat(probing.isAcknowledged()).isTrue();
      now += 600;
      assertThat(measured(24)).isEqualTo(new Outcome.Measured(24e6)); // 20 in 24 ms
    }

    @Test
    void eachStepIsAcknowledged() {
      applied.acknowledged(28);
      acknowledge(28);
      now += 600;
      assertThat(measured(28)).isNull();
      assertThat(probing.limit()).isEqualTo(17);
      assertThat(measured(1)).isNull();
      assertThat(probing.isAcknowledged()).as("for one step").isTrue();
      acknowledge(17);
      now += 600;
      assertThat(measured(20)).isEqualTo(new Outcome.Measured(20e6));
    }

    @Test
    void withoutAnAcknowledgementNothingIsKnown() {
      measured(20);
      assertThat(timedOut(29_999)).isNull();
      assertThat(timedOut(30_000)).isEqualTo(new Outcome.Unknown());
      assertThat(probing.isAcknowledged()).isFalse();
    }
  }

  @Test
  void aLimiterOfThisProcessAcknowledgesNothing() {
    assertThat(probing.isAcknowledged()).isTrue();
    probing.acknowledged(3, origin + ms(50_000));
    assertThat(measured(33)).as("of 28 requests").isInstanceOf(Outcome.Measured.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -30_000_000_000L, Long.MAX_VALUE - 10})
  void withTooFewRequestsNothingIsKnownAfterHalfAnInterval(long begin) {
    origin = begin;
    probing = probing(FIFTY);
    for (int i = 0; i < 49; i++) {
      assertThat(ended(100, 36)).isNull();
    }
    assertThat(timedOut(29_999)).isNull();
    assertThat(ended(29_999, 36)).isInstanceOf(Outcome.Measured.class); // the fiftieth
    probing = probing(FIFTY);
    assertThat(timedOut(30_000)).isEqualTo(new Outcome.Unknown());
  }

  @Test
  void aRequestThatArrivesAfterTheTimeoutEndsAMeasurement() {
    assertThat(ended(29_999, 20)).isNull();
    assertThat(ended(30_000, 20)).isEqualTo(new Outcome.Unknown());
  }

  /** A limiter that never acknowledges the next step holds the measurement up. */
  @Test
  void aStepCountsThoughTheNextTimesOut() {
    measured(28);
    assertThat(timedOut(now + 29_999)).isNull();
    assertThat(timedOut(now + 30_000)).isEqualTo(new Outcome.AtMost(28e6));
    assertThat(measured(17)).isNull();
    assertThat(timedOut(now + 30_000)).isEqualTo(new Outcome.AtMost(17e6));
  }

  @Test
  void aLongInterruptionIsMeasuredAgainTwice() {
    assertThat(measured(49)).isNull();
    assertThat(probing.limit()).isEqualTo(28);
    assertThat(measured(49)).isNull();
    assertThat(probing.limit()).isEqualTo(28);
    assertThat(timedOut(now + 30_000)).as("no step").isEqualTo(new Outcome.Unknown());
    assertThat(measured(49)).isEqualTo(new Outcome.Measured(49e6));
  }

  @Test
  void requestsOfAnInterruptionDoNotCountAgain() {
    measured(49);
    assertThat(measured(20)).isNull();
    assertThat(probing.limit()).isEqualTo(17);
    assertThat(timedOut(now + 30_000)).isEqualTo(new Outcome.AtMost(20e6));
  }

  @Test
  void aLatencyUpToAFifthLongerIsAMeasurement() {
    assertThat(measured(48)).isEqualTo(new Outcome.Measured(48e6));
  }

  /** Three of 50 are more than 5 %. */
  @ParameterizedTest
  @CsvSource({"2, false", "3, true"})
  void droppedRequestsAreAnOverload(int dropped, boolean overloaded) {
    Outcome outcome = null;
    for (int i = 0; i < 50; i++) {
      assertThat(outcome).isNull();
      outcome = ended(100, 20, i < dropped);
    }
    assertThat(outcome instanceof Outcome.Overloaded).isEqualTo(overloaded);
  }

  @Test
  void dropsOfTheOldQueueAreNoOverload() {
    for (int i = 0; i < 100; i++) {
      assertThat(ended(79, 60, true)).isNull();
    }
    assertThat(measuredFrom(80, 36)).isEqualTo(new Outcome.Measured(36e6));
  }

  @Test
  void dropsOfAnEarlierStepAreNoOverload() {
    for (int i = 0; i < 52; i++) {
      ended(100 + i, 28, i < 2);
    }
    now = 152;
    assertThat(probing.limit()).isEqualTo(17);
    for (int i = 0; i < 48; i++) {
      assertThat(ended(300, 20, i < 1)).isNull();
    }
  }

  /** The deviation is 98 % of the mean, so 7 % need 194 requests. */
  @Test
  void endsWhenTheMeanIsPrecise() {
    probing = probing(settings(30, 400));
    assertThat(requestsUntilMeasured(_ -> 35)).isEqualTo(30);
    probing = probing(settings(30, 400));
    assertThat(requestsUntilMeasured(i -> i % 2 == 0 ? 1 : 70)).isBetween(180, 200);
    probing = probing(settings(30, 100));
    assertThat(requestsUntilMeasured(i -> i % 2 == 0 ? 1 : 70)).isEqualTo(100);
  }

  /** At 50 requests per second. */
  @Test
  void endsWithTheRequestsOfTwoSeconds() {
    probing = probing(28, 50 / 1e9, LATENCY, settings(30, 400));
    assertThat(requestsUntilMeasured(i -> i % 2 == 0 ? 1 : 70)).isEqualTo(100);
    probing = probing(28, 5 / 1e9, LATENCY, settings(30, 400));
    assertThat(requestsUntilMeasured(i -> i % 2 == 0 ? 1 : 70)).as("at least").isEqualTo(30);
  }

  @Test
  void aShortInterruptionDoesNotCount() {
    for (int i = 0; i < 40; i++) {
      assertThat(ended(100 + 100 * (i / 5), 20)).isNull();
    }
    Outcome outcome = null;
    for (int i = 0; i < 10; i++) {
      outcome = ended(1_500, 700); // all ended together
    }
    assertThat(outcome).isNull();
    assertThat(probing.limit()).as("of 20 ms").isEqualTo(17);
    assertThat(timedOut(31_500))
        .isInstanceOfSatisfying(
            Outcome.AtMost.class, step -> assertThat(step.nanos()).isCloseTo(20e6, within(1.0)));
  }

  private static ProbedVegasLimit.Settings settings(int minSamples, int maxSamples) {
    return new ProbedVegasLimit.Settings(
        WindowSettings.defaults(), ms(INTERVAL), minSamples, maxSamples, ms(600));
  }

  private Probing probing(ProbedVegasLimit.Settings settings) {
    return probing(28, 1e-6, LATENCY, settings);
  }

  /** Starts a measurement at 0 ms. */
  private Probing probing(
      int limit, double throughput, double latency, ProbedVegasLimit.Settings settings) {
    now = 0;
    double nanos = latency * TimeUnit.MILLISECONDS.toNanos(1);
    return new Probing(limit, 4, throughput, nanos, origin, applied, settings);
  }

  private void acknowledge(int requests) {
    probing.acknowledged(requests, origin + ms(now));
  }

  /** Ends requests once an old queue has drained. */
  private @Nullable Outcome measured(double rttMillis) {
    return measuredFrom(now + 1_000, rttMillis);
  }

  /** Ends fifty requests, one a ms. */
  private @Nullable Outcome measuredFrom(double endMillis, double rttMillis) {
    Outcome outcome = null;
    for (int i = 0; i < 50; i++) {
      assertThat(outcome).isNull();
      outcome = ended(endMillis + i, rttMillis);
      now = endMillis + i;
    }
    return outcome;
  }

  private int requestsUntilMeasured(IntToDoubleFunction rttMillis) {
    int limit = probing.limit();
    for (int i = 0; i < 1_000; i++) {
      if (ended(1_000 + i, rttMillis.applyAsDouble(i)) != null || probing.limit() != limit) {
        return i + 1;
      }
    }
    throw new AssertionError("no end after 1,000 requests");
  }

  private @Nullable Outcome ended(double endMillis, double rttMillis) {
    return ended(endMillis, rttMillis, false);
  }

  private @Nullable Outcome ended(double endMillis, double rttMillis, boolean dropped) {
    long end = origin + ms(endMillis);
    return probing.learn(new Sample(end - ms(rttMillis), ms(rttMillis), end, 1, false, dropped));
  }

  private @Nullable Outcome timedOut(double nowMillis) {
    return probing.timedOut(origin + ms(nowMillis));
  }
}
