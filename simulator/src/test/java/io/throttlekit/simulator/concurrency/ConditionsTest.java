package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.simulator.concurrency.algorithm.FixedAlgorithm;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares each condition with what it should do to a backend of 20 servers of 20 ms. */
@Tag("slow")
class ConditionsTest {
  private static final int SECONDS = 200;
  private static final long SEED = 1;

  @Test
  void batchesArriveAtTheRateOfThePhaseAndAtOnce() {
    Course course = play(0.3, Conditions.NONE.arrivals(Arrivals.batches(10)), 1_000);
    assertThat(course.latencies(0, SECONDS).length / (double) SECONDS).isEqualTo(300, within(15.0));
    assertThat(course.maxInFlight(0, SECONDS)).isGreaterThan(40);
    assertThat(play(0.3, Conditions.NONE, 1_000).maxInFlight(0, SECONDS)).isLessThan(25);
  }

  @Test
  void aDailyLoadIsLowestAtTheStart() {
    Course course = play(0.5, Conditions.NONE.arrivals(Arrivals.daily(0.8, SECONDS)), 1_000);
    int middle = SECONDS / 2;
    assertThat(course.latencies(0, 10).length).isBetween(900, 1_150); // 0.1 of the capacity
    assertThat(course.latencies(middle - 5, middle + 5).length).isBetween(8_700, 9_200);
  }

  @Test
  void noServerWorksDuringAStall() {
    Conditions stalls = Conditions.NONE.stalls(new Interruptions(10, 0.3, 0));
    Course course = play(5, stalls, 30);
    assertThat(course.latencies(10, 190).length / 180.0).isEqualTo(970, within(5.0));
    assertThat(course.latency(1, 0, 10)).isLessThan(250);
    assertThat(course.latency(1, 10, 20)).isGreaterThan(320);
  }

  @Test
  void theLimiterNoticesNothingDuringAPause() {
    Conditions pauses = Conditions.NONE.pauses(new Interruptions(10, 0.5, 0));
    Course course = play(0.5, pauses, 1_000);
    assertThat(course.maxInFlight(10, 11)).isBetween(230, 280); // half a second's arrivals at once
    assertThat(course.maxInFlight(11, 20)).isLessThan(30);
    assertThat(course.latency(1, 10, 11)).isGreaterThan(450);
  }

  @Test
  void aResponseOnTheNetworkOccupiesNoServer() {
    Conditions wire = Conditions.NONE.wire(30, Lengths.normal(1 / 3.0));
    Course course = play(0.5, wire, 1_000);
    assertThat(mean(course)).isEqualTo(50, within(1.0));
    assertThat(play(5, wire, 50).latencies(10, 20).length / 10.0).isGreaterThan(880);
  }

  @Test
  void aCrowdedBackendIsFastestAtTheCrowd() {
    Conditions crowding = Conditions.NONE.crowding(40);
    assertThat(thrashing(crowding, 40)).isEqualTo(1_000, within(30.0));
    assertThat(thrashing(crowding, 80)).isEqualTo(800, within(30.0));
    assertThat(thrashing(crowding, 20)).isEqualTo(800, within(30.0));
  }

  @Test
  void burstsOfANeighbourTakeTheirShareOfTheTime() {
    float[] factors = Slowness.bursts(2, 1, 3).draw(10_000, new Chance(SEED, 1));
    double slow = IntStream.range(0, factors.length).filter(i -> factors[i] == 2).count();
    assertThat(slow / factors.length).isEqualTo(0.25, within(0.02));
  }

  @Test
  void wanderingServiceTimesKeepTheirMeanAndRememberTheLast() {
    float[] factors = Slowness.wandering(0.4, 3).draw(20_000, new Chance(SEED, 1));
    double mean =
        IntStream.range(0, factors.length).mapToDouble(i -> factors[i]).average().orElse(0);
    assertThat(mean).isEqualTo(1, within(0.02));
    double step =
        IntStream.range(1, factors.length)
            .mapToDouble(i -> Math.abs(factors[i] - factors[i - 1]))
            .average()
            .orElse(0);
    assertThat(step).isLessThan(0.1);
  }

  @Test
  void onOffLoadsTakeTurns() {
    Course course = play(0.2, Conditions.NONE.arrivals(Arrivals.onOff(4, 5, 0.5, 15)), 1_000);
    assertThat(course.latencies(40, 45).length / 5.0).isEqualTo(800, within(50.0));
    assertThat(course.latencies(45, 60).length / 15.0).isEqualTo(100, within(20.0));
  }

  @Test
  void clientsWaitForTheirTimeout() {
    Course course = play(3, Conditions.NONE.timeout(5_000), 10_000);
    assertThat(course.latency(1, 100, SECONDS)).isEqualTo(5_000, within(1.0));
  }

  @Test
  void serviceTimesFallAfterAStart() {
    float[] factors = Slowness.warmUp(3, 60).draw(SECONDS, new Chance(SEED, 1));
    assertThat(List.of(factors[0], factors[300], factors[600], factors[1_999]))
        .containsExactly(3f, 2f, 1f, 1f);
  }

  @Test
  void serviceTimesGrowUntilARestart() {
    float[] factors = Slowness.leak(2, 100).draw(SECONDS, new Chance(SEED, 1));
    assertThat(List.of(factors[0], factors[500], factors[1_000], factors[1_500]))
        .containsExactly(1f, 1.5f, 1f, 1.5f);
    assertThat(factors[999]).isGreaterThan(1.99f);
  }

  private static double thrashing(Conditions conditions, int limit) {
    Phase phase = new Phase(SECONDS, 3_000, 1_000, 20, Lengths.logNormal(0.5));
    return play(Plan.empty().then(phase).under(conditions), limit).latencies(10, 110).length
        / 100.0;
  }

  private static double mean(Course course) {
    float[] latencies = course.latencies(0, SECONDS);
    return IntStream.range(0, latencies.length).mapToDouble(i -> latencies[i]).average().orElse(0);
  }

  private static Course play(double load, Conditions conditions, int limit) {
    return play(Plan.empty().then(SECONDS, load).under(conditions), limit);
  }

  private static Course play(Plan plan, int limit) {
    FixedAlgorithm fixed = new FixedAlgorithm(limit);
    return Simulation.play(plan, fixed, new InProcessLimiter(fixed), SEED);
  }
}
