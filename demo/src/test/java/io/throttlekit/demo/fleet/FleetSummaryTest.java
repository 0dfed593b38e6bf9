package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.fleet.FleetSummary.Row;
import io.throttlekit.demo.fleet.FleetSummary.Span;
import io.throttlekit.demo.load.Course.Figures;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class FleetSummaryTest {
  private static final FleetPlan PLAN =
      new FleetPlan(3, Gate.ENVOY, StoreKind.REDIS, Fault.SUSPEND, List.of(2), 40, 1);

  @Test
  void showsTheGoodputBeforeDuringAndAfterTheFault() {
    FleetSummary summary =
        new FleetSummary(
            PLAN,
            100,
            List.of(new Row(2, "b", "a", 1907, span(10, 990), span(10, 900), span(20, 1960), .89)));
    assertThat(summary.words().lines())
        .contains(
            "load  suspended next      after   before   during    after  worst 10 s",
            "2     b         a       1907 ms    0.990    0.900    0.980       0.890");
    assertThat(summary.textAndJson())
        .endsWith(
            "{\"replicas\":3,\"gate\":\"envoy\",\"store\":\"redis\",\"fault\":\"suspend\",\"seed\":1,\"per_second\":100.000,"
                + "\"loads\":[{\"load\":2,\"faulty\":\"b\",\"next\":\"a\",\"next_ms\":1907,"
                + "\"before\":0.990,\"during\":0.900,\"after\":0.980,\"worst_10s\":0.890}]}");
  }

  /** Twice the capacity is offered. */
  private static Span span(int seconds, long good) {
    return new Span(
        seconds,
        new Figures(good, 0, 200L * seconds - good, 0, OptionalInt.empty(), OptionalInt.empty()));
  }
}
