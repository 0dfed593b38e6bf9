package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.Gradient2Limit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.ProbedVegasLimit;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole fleets of {@link DistributedLimiter}, in virtual time and with fixed seeds. */
class DistributedFleetTest {
  private static final int MIN = 4;
  private static final int MAX = 512;

  @ParameterizedTest(name = "{0} nodes, {1}, {2}")
  @CsvSource({
    "1, POOLED, DEMAND",
    "2, POOLED, DEMAND",
    "3, POOLED, EQUAL",
    "8, POOLED, DEMAND",
    "16, POOLED, DEMAND",
    "64, POOLED, DEMAND",
    "1, MEDIAN, DEMAND",
    "2, MEDIAN, DEMAND",
    "3, MEDIAN, DEMAND",
    "8, MEDIAN, EQUAL",
    "16, MEDIAN, DEMAND",
    "64, MEDIAN, DEMAND",
    "1, MIN, DEMAND",
    "2, MIN, DEMAND",
    "3, MIN, EQUAL",
    "8, MIN, DEMAND",
    "16, MIN, DEMAND",
    "64, MIN, DEMAND",
  })
  void aSaturatedFleetGrowsToWhatTheBackendTakesAndShrinksWhenItSlowsDown(
      int nodes, Aggregate aggregate, Allocation allocation) {
    int workers = 96;
    LoadedFleet fleet =
        new LoadedFleet(
            new Coordination(aggregate, allocation, true), algorithms(aggregate), 20, workers, 1);
    double capacity = workers / 0.020;
    fleet.join(nodes, 1.5 * capacity);
    // Where most nodes have no permit at first, each infers for itself, and slowly.
    fleet.time.run(nodes < 64 || fleet.isPooled() ? 60_000 : 300_000);
    long before = fleet.answered;
    fleet.time.run(10_000);
    double utilization = (fleet.answered - before) / (10 * capacity);
    int healthy = fleet.limit();
    assertThat(utilization).as("at a limit of %s", healthy).isGreaterThan(0.9);
    fleet.workers = workers / 4;
    fleet.time.run(60_000);
    assertThat(fleet.limit()).isLessThan(healthy * 2 / 3);
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, {2}, lost {3}, seed {4}")
  @CsvSource({
    "1, 8, DEMAND, 0, 1",
    "2, 8, EQUAL, 0.1, 2",
    "3, 8, DEMAND, 0.2, 3",
    "8, 20, DEMAND, 0.1, 4",
    "16, 8, DEMAND, 0.1, 5",
    "64, 100, EQUAL, 0.05, 6",
  })
  void withAConstantLimitNeverMoreThanTheLimitIsInFlight(
      int nodes, int limit, Allocation allocation, double loss, long seed) {
    LoadedFleet fleet =
        new LoadedFleet(
            new Coordination(Aggregate.MIN, allocation, true),
            initial -> aimd(new LimitRange(limit, limit, initial)),
            limit,
            1_000,
            seed);
    fleet.loss = loss;
    fleet.maxDelayNanos = TimeUnit.MILLISECONDS.toNanos(300);
    fleet.join(nodes, 200.0 * limit);
    SplittableRandom random = new SplittableRandom(seed);
    int cuts = 0;
    for (int i = 0; i < 200; i++) {
      LoadedFleet.Node node = fleet.nodes.get(random.nextInt(nodes));
      node.cut(random.nextInt(3) == 0);
      node.load(random.nextInt(4) == 0 ? 0 : random.nextInt(500) * limit / (double) nodes);
      cuts++;
      fleet.time.run(random.nextInt(700));
      assertThat(fleet.mostInFlight).isLessThanOrEqualTo(limit);
    }
    assertThat(cuts).isEqualTo(200);
    assertThat(fleet.mostInFlight)
        .as("the limit was reached")
        .isGreaterThanOrEqualTo(limit * 9 / 10);
    assertThat(fleet.answered).isGreaterThan(1_000);
  }

  @ParameterizedTest(name = "{0} nodes, seed {1}")
  @CsvSource({"2, 1", "3, 2", "8, 3", "16, 4"})
  void anotherNodeSteersWithin3SecondsAndFromTheSameLimit(int nodes, long seed) {
    Coordination terms = Coordination.DEFAULT;
    LoadedFleet fleet = new LoadedFleet(terms, algorithms(terms.aggregate()), 20, 48, seed);
    double load = 1.5 * 48 / 0.020;
    fleet.join(nodes, load);
    fleet.time.run(30_000);
    LoadedFleet.Node old = fleet.steering();
    long epoch = old.limiter.figures().epoch();
    int limit = fleet.limit();
    long answered = fleet.answered;
    old.cut(true);
    fleet.nodes.forEach(node -> node.load(node == old ? 0 : load / (nodes - 1)));
    fleet.time.run(3_000);
    LoadedFleet.Node next = fleet.steering();
    assertThat(next).isNotSameAs(old);
    assertThat(next.limiter.figures().epoch()).isEqualTo(epoch + 1);
    // Its algorithm knows no baseline: its first window raises the limit by half at most, and the
    // permits for divided requests come on top until it has measured.
    assertThat(fleet.limit()).isBetween(limit / 2, limit * 2);
    assertThat(old.limiter.figures().fenced()).isTrue();
    old.cut(false);
    fleet.time.run(2_000);
    assertThat(old.limiter.figures().epoch()).as("it does not steer any more").isZero();
    assertThat(fleet.steering()).isSameAs(next);
    assertThat(fleet.answered - answered).isGreaterThan(nodes == 2 ? 2_000 : 5_000);
    fleet.time.run(8_000);
    assertThat(fleet.limit()).as("after a measurement").isBetween(limit * 3 / 4, limit * 5 / 4);
  }

  @Test
  void allNodesSendFrequentHeartbeatsOnlyAroundMeasurements() {
    LoadedFleet fleet =
        new LoadedFleet(Coordination.DEFAULT, algorithms(Aggregate.POOLED), 20, 20, 1);
    fleet.join(4, 2 * 20 / 0.020);
    fleet.time.run(60_000);
    LoadedFleet.Node steering = fleet.steering();
    LoadedFleet.Node other =
        fleet.nodes.stream().filter(node -> node != steering).findFirst().orElseThrow();
    int often = 0;
    int all = other.beats;
    for (int second = 0; second < 600; second++) {
      int before = other.beats;
      fleet.time.run(1_000);
      often += other.beats - before > 5 ? 1 : 0;
    }
    assertThat(often).as("seconds of 600, with 5 to 10 measurements").isBetween(5, 50);
    assertThat(other.beats - all).as("heartbeats").isBetween(620, 1_200);
  }

  @Test
  void theSteeringNodeHeartbeatsOftenOnlyWhileItMeasures() {
    LoadedFleet fleet =
        new LoadedFleet(Coordination.DEFAULT, algorithms(Aggregate.POOLED), 20, 20, 1);
    fleet.join(4, 2 * 20 / 0.020);
    fleet.time.run(60_000);
    LoadedFleet.Node steering = fleet.steering();
    int most = 0;
    int often = 0;
    for (int second = 0; second < 300; second++) {
      int before = steering.beats;
      fleet.time.run(1_000);
      most = Math.max(most, steering.beats - before);
      often += steering.beats - before > 5 ? 1 : 0;
    }
    assertThat(fleet.steering()).isSameAs(steering);
    assertThat(most).as("every 0.1 s").isBetween(8, 11);
    assertThat(often).as("seconds of 300").isBetween(2, 60);
  }

  private static IntFunction<ConcurrencyLimit> algorithms(Aggregate aggregate) {
    return initial -> {
      LimitRange range = new LimitRange(MIN, MAX, Math.clamp(initial, MIN, MAX));
      return aggregate == Aggregate.POOLED
          ? new ProbedVegasLimit(
              range, ProbedVegasLimit.Settings.defaults().ofFleet(), new SplittableRandom(7))
          : new Gradient2Limit(range, Gradient2Limit.Settings.defaults());
    };
  }

  private static ConcurrencyLimit aimd(LimitRange range) {
    return new AimdLimit(range, AimdLimit.Settings.defaults());
  }
}
