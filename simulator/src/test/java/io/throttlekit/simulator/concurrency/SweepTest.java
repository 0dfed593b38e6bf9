package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class SweepTest {
  private static final List<Double> LOADS = List.of(1.0, 1.2);
  private static final long HELD_OUT = 201;
  private static final SweepBackend SMALL = new SweepBackend(3, false);

  @TempDir private Path folder;

  @Test
  void thereIsARowForEachStartBackendGoalAndSensor() {
    List<String> names =
        SweepBackend.all().stream().flatMap(Sweep.Row::of).map(Sweep.Row::name).toList();
    assertThat(names)
        .hasSize(3 * 3 * 2 * 2 * 2)
        .doesNotHaveDuplicates()
        .contains("calm 3 direct 5× exact", "at once 20 wire 3× logged");
  }

  @Test
  void finerLoadsContainTheOthers() {
    assertThat(SweepReport.loads(true)).hasSize(31).startsWith(0.9, 0.91).endsWith(1.2);
    assertThat(SweepReport.loads(true)).containsAll(SweepReport.loads(false));
  }

  @Test
  void everyStartReachesTheLoadForFiveMinutes() {
    for (SweepStart start : SweepStart.values()) {
      Plan plan = start.plan(SMALL, 1.1);
      assertThat(plan.seconds()).isEqualTo(start.reached() + 300);
      assertThat(plan.at(start.reached()).perSecond()).isEqualTo(165, within(1e-9));
    }
    Plan creeping = SweepStart.CREEPING.plan(SMALL, 1.1);
    assertThat(creeping.at(0).perSecond()).isEqualTo(75, within(1e-9));
    assertThat(creeping.at(300).perSecond()).isEqualTo(120, within(1e-9));
  }

  @Test
  void searchesAmongLimitsFromFullUseToTheLaxestGoal() {
    assertThat(SMALL.limits()).startsWith(3, 4).doesNotHaveDuplicates();
    assertThat(SMALL.limits()[SMALL.limits().length - 1]).isBetween(15, 17);
    assertThat(new SweepBackend(20, true).limits()).startsWith(46).endsWith(143);
  }

  @Test
  void theReportHasTheWorstStepOfEachRowAndTheBestLimits() {
    assertThat(report())
        .startsWith(
            "| row | ProbedVegas: goodput | ProbedVegas: worst minute | ProbedVegas: p99 |\n")
        .containsPattern(
            "\n\\| at once 3 direct 5× exact( \\| \\d\\.\\d{3} at 1\\.[02]0( ✗)?){3} \\|\n")
        .containsPattern("\n\\| worst( \\| \\d\\.\\d{3} at 1\\.[02]0( ✗)?){3} \\|\n")
        .containsPattern("\n\\| rows that miss the target( \\| [0-2] of 2){3} \\|\n")
        .contains("\n\n| best fixed limit | 1.00 | 1.20 |\n")
        .containsPattern("\n\\| 3 direct 5×( \\| \\d+){2} \\|\n")
        .containsPattern(
            "\n\\| 3 direct, goodput of one limit for both( \\| \\d\\.\\d{3}( ✗)?){2} ");
  }

  @Test
  void aSeedDeterminesTheReport() {
    assertThat(report()).isEqualTo(report());
  }

  @Test
  void theBestFixedLimitIsComparedWithItself() {
    Sweep.Row row = new Sweep.Row(SweepStart.AT_ONCE, SMALL, 5, false);
    int best = sweep(row, 15).run().best().getFirst().limits().getFirst();
    assertThat(sweep(row, best).run().steps())
        .singleElement()
        .extracting(Sweep.Step::figures)
        .isEqualTo(new SpanFigures.Relative(1, 1, 1));
  }

  @Test
  void figuresAreTheMeanGoodputTheWorstMinuteAndTheHighestP99() {
    List<SpanFigures> runs =
        List.of(
            new SpanFigures(0.9, List.of(0.8, 1.0), 60), new SpanFigures(0.7, List.of(0.7), 40));
    List<SpanFigures> best =
        List.of(new SpanFigures(1, List.of(1.0, 1.0), 50), new SpanFigures(1, List.of(0.8), 50));
    assertThat(SpanFigures.compare(runs, best)).isEqualTo(new SpanFigures.Relative(0.8, 0.8, 1.2));
  }

  /** At these loads, a limit that follows its own queue loses most of the goodput. */
  @Test
  void twentyServersMeetTheTargetsAtTheCapacityFromEachStart() {
    SweepBackend backend = new SweepBackend(20, false);
    List<Sweep.Row> rows = Sweep.Row.of(backend).toList();
    List<Sweep.Step> steps =
        new Sweep(rows, List.of(1.0, 1.02), List.of(Contenders.probedVegas()), List.of(HELD_OUT))
            .run()
            .steps();
    assertThat(steps)
        .hasSize(2 * rows.size())
        .allSatisfy(step -> {
          assertThat(step.figures().goodput()).isGreaterThan(0.98);
          assertThat(step.figures().worstMinute()).isGreaterThan(0.95);
          assertThat(step.figures().p99()).isLessThan(1.5);
        });
  }

  @Test
  void aPatternThatMatchesNoRowIsRefused() {
    assertThatThrownBy(() -> SweepReport.of(false, Pattern.compile("7 direct"), Names.ANY, 1, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("no name matches 7 direct: calm 3 direct 5× exact, ");
  }

  @Test
  void drawsACurveForEachAlgorithmAndTheBestLimitInAPanelForEachGoalAndSensor() throws IOException {
    StringBuilder text = new StringBuilder();
    List<Contender> contenders = List.of(Contenders.probedVegas(), Contender.fixed(5));
    SweepReport.of(LOADS, contenders, Pattern.compile("at once 3 direct"), 1, 1)
        .draw(text::append, folder);
    assertThat(text).startsWith("| row | ProbedVegas: goodput | ");
    String svg = Files.readString(folder.resolve("sweep.svg"));
    assertThat(svg.lines().filter(line -> line.startsWith("<path class=\"b\""))).hasSize(4);
    assertThat(svg.lines().filter(line -> line.startsWith("<path class=\"c\""))).hasSize(4 + 1);
    assertThat(svg.lines().filter(line -> line.startsWith("<path class=\"g\""))).hasSize(4 + 1);
    assertThat(svg)
        .contains(">at once 3 direct 5×<", ">logged<", ">fixed at 5<", ">best fixed limit<");
  }

  private static String report() {
    StringBuilder text = new StringBuilder();
    SweepReport.of(
            LOADS,
            List.of(Contenders.probedVegas()),
            Pattern.compile("at once 3 direct .* exact"),
            1,
            1)
        .print(text::append);
    return text.toString();
  }

  private static Sweep sweep(Sweep.Row row, int limit) {
    return new Sweep(List.of(row), List.of(1.0), List.of(Contender.fixed(limit)), List.of(1L));
  }
}
