package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.simulator.concurrency.algorithm.FixedAlgorithm;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the simulation with the closed forms of queueing theory. */
@Tag("slow")
class SimulationTest {
  private static final int SETTLED = 20;
  private static final int END = 1_000;
  private static final long SEED = 1;

  static Stream<Lengths> lengths() {
    return Stream.of(Lengths.EXPONENTIAL, Lengths.logNormal(0.5), Lengths.logNormal(0));
  }

  @ParameterizedTest
  @MethodSource("lengths")
  void refusalsFollowErlangsLossFormulaForAllDistributions(Lengths lengths) {
    Course course = play(plan(0.9, lengths), new FixedAlgorithm(20));
    assertThat(lossOf(20, 18)).isEqualTo(0.1092, within(0.00005));
    assertThat(course.refused(SETTLED, END)).isEqualTo(0.1092, within(0.002));
    assertThat(course.maxInFlight(0, END)).isEqualTo(20);
  }

  @Test
  void refusesLikeAQueueOfTenPlaces() {
    Course course = play(plan(0.9, Lengths.EXPONENTIAL), new FixedAlgorithm(30));
    assertThat(course.refused(SETTLED, END)).isEqualTo(lossOf(20, 10, 18), within(0.0015));
  }

  @Test
  void waitsFollowErlangsDelayFormula() {
    Course course = play(plan(0.9, Lengths.EXPONENTIAL), FixedAlgorithm.NONE);
    double loss = lossOf(20, 18);
    double waits = loss / (1 - 0.9 * (1 - loss));
    double mean = Plan.MEAN_MILLIS + waits / (1 - 0.9);
    assertThat(meanLatency(course, SETTLED, END)).isEqualTo(mean, within(0.02 * mean));
    assertThat(endedPerSecond(course, SETTLED, END)).isEqualTo(900, within(5.0));
    assertThat(course.refused(0, END)).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 26, 60})
  void underSaturationLatencyIsTheLimitDividedByTheCapacity(int limit) {
    Course course = play(plan(5, Lengths.logNormal(0.5)), new FixedAlgorithm(limit));
    assertThat(endedPerSecond(course, SETTLED, END)).isEqualTo(1_000, within(15.0));
    assertThat(meanLatency(course, SETTLED, END)).isEqualTo(limit, within(0.02 * limit));
    assertThat(course.limit(0, END)).isEqualTo(limit, within(1e-9));
  }

  @Test
  void withoutALimitGoodputIsZero() {
    Course course = play(Plan.empty().then(20, 3), FixedAlgorithm.NONE);
    assertThat(course.goodput(5, 20)).isZero();
    assertThat(course.latency(1, 5, 20)).isEqualTo(1_000);
    assertThat(endedPerSecond(course, 5, 20)).isEqualTo(3_000, within(60.0));
    assertThat(course.maxInFlight(5, 20)).isBetween(2_900, 3_200);
  }

  @Test
  void aBackendThatLosesServersFinishesItsRequestsAndSlowsDown() {
    Plan plan = Plan.empty().then(20, 2).then(20, 2, 10, Plan.MEAN_MILLIS, Plan.VARIATION);
    Course course = play(plan.then(20, 2), new FixedAlgorithm(30));
    assertThat(endedPerSecond(course, 1, 20)).isEqualTo(1_000, within(20.0));
    assertThat(endedPerSecond(course, 21, 40)).isEqualTo(500, within(15.0));
    assertThat(endedPerSecond(course, 41, 60)).isEqualTo(1_000, within(20.0));
  }

  @Test
  void aSeedDeterminesTheRun() {
    Plan plan = Plan.empty().then(10, 1.2);
    Course course = play(plan, new FixedAlgorithm(30));
    assertThat(figures(play(plan, new FixedAlgorithm(30)))).isEqualTo(figures(course));
    assertThat(figures(course)).isEqualTo("0.996 0.176 60.12");
    Course other = Simulation.play(plan, FixedAlgorithm.NONE, exact(new FixedAlgorithm(30)), 2);
    assertThat(figures(other)).isNotEqualTo(figures(course));
  }

  private static double meanLatency(Course course, int from, int to) {
    double sum = 0;
    float[] latencies = course.latencies(from, to);
    for (float latency : latencies) {
      sum += latency;
    }
    return sum / latencies.length;
  }

  private static double endedPerSecond(Course course, int from, int to) {
    return (double) course.latencies(from, to).length / (to - from);
  }

  private static String figures(Course course) {
    return "%.3f %.3f %.2f"
        .formatted(course.goodput(0, 10), course.refused(0, 10), course.latency(0.99, 0, 10));
  }

  private static Plan plan(double load, Lengths lengths) {
    return Plan.empty().then(new Phase(END, load * 1_000, 20, Plan.MEAN_MILLIS, lengths));
  }

  private static Course play(Plan plan, SimulatedAlgorithm algorithm) {
    return Simulation.play(plan, algorithm, exact(algorithm), SEED);
  }

  private static SimulatedLimiter exact(SimulatedAlgorithm algorithm) {
    return new InProcessLimiter(algorithm);
  }

  /** Returns the loss by Erlang B. */
  private static double lossOf(int servers, double load) {
    return lossOf(servers, 0, load);
  }

  /** Returns the share of arrivals that find all servers and places taken, M/M/c/K. */
  private static double lossOf(int servers, int places, double load) {
    double term = 1;
    double sum = 1;
    for (int n = 1; n <= servers + places; n++) {
      term *= load / Math.min(n, servers);
      sum += term;
    }
    return term / sum;
  }
}
