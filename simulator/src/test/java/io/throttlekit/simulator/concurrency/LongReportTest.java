package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class LongReportTest {
  private static final String CELL = "\\d\\.\\d{3} \\(\\d\\.\\d{3}\\)( ✗)?";

  @Test
  void aRowHasGoodputAndWorstMinuteOfEachAlgorithmBesideTheBestFixedLimit() {
    String report = report("llm 1.30");
    assertThat(report)
        .startsWith(
            "| goodput (worst minute) | best fixed limit | ProbedVegas | Netflix Gradient2,"
                + " windowed | Netflix Vegas, windowed |\n")
        .containsPattern(
            "\n\\| `llm 1.30` \\| \\d+: CELL( \\| CELL · CELL){3} \\|\n".replace("CELL", CELL));
    assertThat(report.lines()).hasSize(3);
  }

  @Test
  void everyKindOfBackendRunsAtThreeLoads() {
    assertThat(report("llm").lines()).hasSize(2 + 3);
  }

  private static String report(String only) {
    return LongReport.of(Pattern.compile(only), Contenders.WINDOWED, 1, 1).markdown();
  }
}
