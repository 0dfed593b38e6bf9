package io.throttlekit.demo.overload;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course.Figures;
import io.throttlekit.demo.overload.OverloadSummary.Row;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class OverloadSummaryTest {
  private static final Figures SAVED =
      new Figures(7_350, 1, 7_640, 9, OptionalInt.of(77), OptionalInt.of(17));
  private static final Figures LOST =
      new Figures(15, 20, 0, 14_965, OptionalInt.of(1000), OptionalInt.empty());

  @Test
  void printsEachPhaseAndArmAsOneLineOfJson() {
    assertThat(summary("2", Map.of(Limiter.NONE, LOST, Limiter.OURS, SAVED)).json())
        .isEqualTo(
            "{\"phases\":[{\"phase\":\"2\",\"offered\":2.0,\"capacity\":1.0,\"goodput\":0.980,"
                + "\"p99_ms\":77,\"limit\":17,\"refused\":7640,\"arms\":{"
                + "\"none\":{\"goodput\":0.002,\"p99_ms\":1000,\"limit\":null,\"refused\":0,"
                + "\"late\":20,\"failed\":14965},"
                + "\"ours\":{\"goodput\":0.980,\"p99_ms\":77,\"limit\":17,\"refused\":7640,"
                + "\"late\":1,\"failed\":9}}}],\"per_second\":125.000,\"service_ms\":80,"
                + "\"counted_seconds\":60,\"seed\":7,\"sent_late_ms\":3}");
  }

  @Test
  void withoutOursItsFiguresAreUnknown() {
    assertThat(summary("2", Map.of(Limiter.NONE, LOST)).json())
        .contains("\"goodput\":null,\"p99_ms\":null,\"limit\":null,\"refused\":null,\"arms\"");
  }

  @Test
  void halfTheWorkersHaveHalfTheCapacity() {
    Figures half = new Figures(3_600, 0, 5_000, 0, OptionalInt.of(90), OptionalInt.of(9));
    assertThat(summary("halved", Map.of(Limiter.OURS, half)).json())
        .contains("\"offered\":1.2,\"capacity\":0.5,\"goodput\":0.960");
  }

  @Test
  void printsATableAndWarnsOfABusyMachine() {
    OverloadSummary summary = summary("2", Map.of(Limiter.NONE, LOST, Limiter.OURS, SAVED));
    assertThat(summary.words())
        .containsPattern("(?m)^2 +none +0.002 +1000 +- +0 +20 +14965$")
        .containsPattern("(?m)^2 +ours +0.980 +77 +17 +7640 +1 +9$")
        .contains("answers within 400 ms")
        .doesNotContain("busy")
        .doesNotContain("less than a minute");
    assertThat(summary.textAndJson().lines())
        .hasSize(5)
        .endsWith(summary.json())
        .startsWith(summary.words().lines().findFirst().orElseThrow());
    assertThat(new OverloadSummary(Capacity.USUAL, 40, 7, List.of(), 0).words())
        .doesNotContain("less than a minute");
    assertThat(new OverloadSummary(Capacity.USUAL, 39, 7, List.of(), 0).words())
        .contains("phases of less than a minute contain the algorithm's first measurement");
    assertThat(new OverloadSummary(Capacity.USUAL, 60, 7, List.of(), 21).words())
        .contains("busy: a request was sent 21 ms late");
  }

  private static OverloadSummary summary(String phase, Map<Limiter, Figures> arms) {
    Row row = new Row(Phase.named(phase).getFirst(), new EnumMap<>(arms));
    return new OverloadSummary(Capacity.USUAL, 60, 7, List.of(row), 3);
  }
}
