package io.throttlekit.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.simulator.concurrency.Course;
import io.throttlekit.simulator.concurrency.Plan;
import io.throttlekit.simulator.concurrency.Scenario;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Fleets beside one process, in virtual time and with fixed seeds. */
@Tag("slow")
class FleetTest {
  private static final long SEED = 1;

  static Stream<FleetShape> shapes() {
    return Stream.of(FleetShape.even(1), FleetShape.even(4), FleetShape.even(16));
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void goodputAtTwiceTheCapacityIsThatOfOneProcess(FleetShape shape) {
    FleetRow row = row("T1 2×");
    FleetReport report = FleetReport.of(List.of(row), List.of(shape), SEED, 1);
    assertThat(report.goodput(row, 1))
        .isGreaterThanOrEqualTo(report.goodput(row, 0) - FleetReport.TARGET);
  }

  /** The half minute has a measurement of the baseline, and little else that costs goodput. */
  @ParameterizedTest
  @MethodSource("shapes")
  void aMeasurementCostsAFleetHardlyMoreThanOneProcess(FleetShape shape) {
    FleetRow row = row("T9 2× after idling, after 30 s");
    FleetReport report = FleetReport.of(List.of(row), List.of(shape), SEED, 1);
    assertThat(report.goodput(row, 1))
        .isGreaterThanOrEqualTo(report.goodput(row, 0) - FleetReport.TARGET);
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void theLimitFollowsAHalvedCapacityWithinTenSeconds(FleetShape shape) {
    Course course = FleetReport.play(FleetRow.named(FleetRow.HALVED), shape, SEED);
    assertThat(FleetRow.followed(course)).isLessThanOrEqualTo(10);
    assertThat(course.goodput(72, 120)).isGreaterThan(0.96);
  }

  /** Where two nodes have most refusals, and the others keep permits free for their bursts. */
  @Test
  void theLimitOfASkewedFleetDoesNotDrift() {
    Scenario overload = new Scenario("", "", Plan.empty().then(600, 1.2), false, List.of());
    Course course = FleetReport.play(overload, FleetShape.skewed(4), SEED);
    assertThat(course.goodput(540, 600)).isGreaterThan(0.97);
    assertThat(course.limit(540, 600)).isLessThan(80);
  }

  /** Heartbeats soon after each other must not understate the peaks of the nodes. */
  @Test
  void sixteenNodesRefuseHardlyAnythingBelowTheCapacity() {
    Course course = FleetReport.play(FleetRow.named("calm-0.8-0.5"), FleetShape.even(16), SEED);
    assertThat(course.refused(60, 180)).isLessThan(0.01);
  }

  @Test
  void requestsAreDistributedByWeight() {
    FleetShape skewed = FleetShape.skewed(4);
    assertThat(DoubleStream.of(0, 0.53, 0.54, 0.79, 0.81, 0.93, 0.94, 0.999).map(skewed::node))
        .containsExactly(0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0);
    assertThat(FleetShape.skewed(16).weights()).hasSize(16).startsWith(8, 4, 2, 1, 8);
  }

  @Test
  void aSeedDeterminesTheRun() {
    Scenario scenario = new Scenario("", "", Plan.empty().then(20, 2), false, List.of());
    Course first = FleetReport.play(scenario, FleetShape.skewed(4), SEED);
    Course again = FleetReport.play(scenario, FleetShape.skewed(4), SEED);
    assertThat(again.goodput(0, 20)).isEqualTo(first.goodput(0, 20));
    assertThat(again.limit(0, 20)).isEqualTo(first.limit(0, 20));
    Course other = FleetReport.play(scenario, FleetShape.skewed(4), SEED + 1);
    assertThat(other.goodput(0, 20)).isNotEqualTo(first.goodput(0, 20));
  }

  @Test
  void theReportHasGoodputWithDifferencesAndTheOtherFigures() {
    Plan plan = Plan.empty().then(10, 2);
    FleetRow row = new FleetRow("2×", new Scenario("x", "", plan, false, List.of()), 5, 10, false);
    String report = FleetReport.of(List.of(row), List.of(FleetShape.even(1)), SEED, 1).markdown();
    assertThat(report)
        .startsWith("| goodput, mean | one process | 1 even |\n|---|---|---|\n")
        .contains("\n| goodput, worst | one process | 1 even |\n|---|---|---|\n")
        .containsPattern(
            "\n\\| 2× \\| \\d\\.\\d{3} \\| \\d\\.\\d{3} \\([+-]\\d\\.\\d{3}\\)( ✗)? \\|\n")
        .containsPattern("\n\\| p99, ms \\| one process \\| 1 even \\|\n\\|---\\|---\\|---\\|\n")
        .containsPattern("\n\\| 2× \\| \\d+ \\| \\d+ \\|\n");
  }

  @Test
  void theSweepHasTheRunAndItsBeginningAtEachLoad() {
    List<FleetRow> rows = FleetRow.sweep(List.of(0.9, 1.05));
    assertThat(rows)
        .extracting(FleetRow::name)
        .containsExactly(
            "sweep 0.90×", "sweep 0.90×, first 12 s", "sweep 1.05×", "sweep 1.05×, first 12 s");
    String report =
        FleetReport.of(rows.subList(2, 4), List.of(FleetShape.even(4)), SEED, 1).markdown();
    assertThat(report)
        .containsPattern("\n\\| sweep 1.05× \\| 0\\.9\\d{2} \\| 0\\.9\\d{2} ")
        .doesNotContain("seconds to follow");
  }

  @Test
  @Tag("thorough")
  void goodputOfHalfAMinuteAndLongerIsThatOfOneProcess() {
    List<FleetRow> rows =
        FleetRow.all().stream().filter(row -> !row.worst() && row.to() - row.from() >= 30).toList();
    FleetReport report = FleetReport.of(FleetRow.all(), SEED, 5);
    assertThat(rows)
        .hasSizeGreaterThan(10)
        .allSatisfy(row -> {
          for (int column = 1; column <= 5; column++) {
            assertThat(report.goodput(row, column))
                .as("%s, column %d", row.name(), column)
                .isGreaterThanOrEqualTo(report.goodput(row, 0) - FleetReport.TARGET);
          }
        });
  }

  private static FleetRow row(String name) {
    return FleetRow.all().stream().filter(r -> r.name().equals(name)).findFirst().orElseThrow();
  }
}
