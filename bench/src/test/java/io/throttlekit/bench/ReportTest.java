package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.command.Median;
import io.throttlekit.bench.command.Target;
import io.throttlekit.bench.comparison.ComparisonReport;
import io.throttlekit.bench.comparison.RoundTrips;
import io.throttlekit.bench.comparison.StoreReport;
import io.throttlekit.bench.server.ServerFigures;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
  private final ServerFigures noOp =
      new ServerFigures("no-op", 50_000, 10, 15, 0.2, 2, 1_000, 90, 0);
  private final ServerFigures good =
      new ServerFigures("service", 45_000, 11, 16, 0.2, 2.2, 1_090, 99, 0);
  private final ServerFigures bad =
      new ServerFigures("service", 40_000, 12, 20, 0.3, 3, 1_200, 99, 0);

  @Test
  void aServiceWithinEveryRatioReachesAllTargets() {
    assertThat(new ComparisonReport(noOp, good, 10, 1, 300_000).targets())
        .allMatch(Target::reached);
  }

  @Test
  void aServiceBeyondEveryRatioReachesNone() {
    assertThat(new ComparisonReport(noOp, bad, 10, 1, 300_000).targets())
        .noneMatch(Target::reached);
  }

  @Test
  void anUnmeasuredFigureReachesNoTargetAndIsNullInJson() {
    Target unknown = Target.atMost("x", 1, Double.NaN);
    assertThat(unknown.reached()).isFalse();
    assertThat(unknown.json()).contains("\"measured\":null");
  }

  @Test
  void theTableAndTheJsonShowBothServersAndTheRatios() {
    ComparisonReport report = new ComparisonReport(noOp, good, 10, 22_500, 300_000);
    assertThat(report.table())
        .contains("| no-op | 50,000 | 10.00 |")
        .contains("| service | 45,000 | 11.00 |")
        .contains("| CPU per decision, ratio | 1.100 | ≤ 1.15 | yes |");
    assertThat(report.json())
        .startsWith("{\"warm\":true,\"rounds\":10,\"half_load_per_second\":22500,")
        .contains("\"measured\":1.1000,\"at_most\":1.15,\"reached\":true")
        .doesNotContain("\n");
  }

  @Test
  void aStrictDecisionThatFailedMissesTheTargetOfNone() {
    ServerFigures failing = new ServerFigures("strict", 25_000, 20, 30, 0.4, 4, 2_000, 99, 1);
    RoundTrips trips = new RoundTrips(1, 1);
    StoreReport none = new StoreReport(noOp, good, good, good, trips, 5, 1);
    StoreReport one = new StoreReport(noOp, good, good, failing, trips, 5, 1);
    assertThat(none.targets()).contains(Target.atMost("strict, decisions that failed", 0, 0));
    assertThat(one.targets())
        .filteredOn(target -> !target.reached())
        .containsExactly(Target.atMost("strict, decisions that failed", 0, 1));
    assertThat(one.json()).contains("\"resident_bytes\":99,\"failed\":1}");
  }

  @Test
  void theReportWarnsIfServersWereNotWarm() {
    ComparisonReport cold = new ComparisonReport(noOp, good, 10, 22_500, 299_999);
    assertThat(cold.table()).contains("NOT WARM: after 299,999 requests");
    assertThat(cold.json()).contains("\"warm\":false");
    assertThat(new ComparisonReport(noOp, good, 10, 1, 300_000).table()).doesNotContain("NOT WARM");
  }

  @Test
  void theMedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle() {
    assertThat(Median.of(List.of(9.0, 1.0, 2.0))).isEqualTo(2);
    assertThat(Median.of(List.of(9.0, 1.0, 2.0, 4.0))).isEqualTo(3);
    assertThat(Median.of(List.of())).isNaN();
  }
}
