package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.MeshCounts.Window;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeshSummaryTest {
  private static final MeshScenario SECONDS = new MeshScenario(10_000);

  private final MeshCounts counts = new MeshCounts(SECONDS);

  @Test
  void computesTheOvershootOfTheWorstWindow() {
    MeshSummary summary =
        summary(window(3, 3, 4), window(5, 4, 3), window(5, 5, 1), window(0, 0, 0));
    assertThat(summary.overshoot()).isEqualTo(2);
    assertThat(summary.words()).contains("overshoot 2").containsPattern("(?m)^2 .* 12 +10 +2$");
    assertThat(summary(window(3, 3, 4)).overshoot()).isZero();
  }

  @Test
  void printsAdmittedByRegionAsOneLineOfJson() {
    assertThat(
            new MeshSummary(10, List.of(window(3, 2, 1)), List.of(new Cuts.Cut(4, 5, 6, 7)), 8, 9)
                .json())
        .isEqualTo(
            "{\"limit\":10,\"windows\":[{\"admitted\":{\"eu\":3,\"us\":2,\"ap\":1},"
                + "\"refused\":{\"eu\":0,\"us\":0,\"ap\":0}}],\"overshoot\":0,\"undecided\":8,"
                + "\"failed\":9,\"cuts\":[{\"region\":\"eu\",\"spent\":4,\"refused\":5,"
                + "\"millis_to_refusal\":6,\"millis_to_return\":7}]}");
  }

  @Test
  void answersOfAnUndecidableWindowAreCountedApart() {
    counts.add(new MeshAnswer(1, Answer.ALLOWED, 20_000_000, 20_001_000, -1));
    counts.add(new MeshAnswer(1, Answer.LIMITED, 20_000_000, 20_001_000, -1));
    counts.add(new MeshAnswer(1, Answer.ALLOWED, 29_999_000, 30_001_000, -1));
    counts.add(new MeshAnswer(1, Answer.FAILED, 29_999_000, 30_001_000, -1));
    assertThat(counts.window(2)).isEqualTo(new Window(List.of(0L, 1L, 0L), List.of(0L, 1L, 0L)));
    assertThat(counts.window(3).total()).isZero();
    assertThat(counts.undecided()).isOne();
    assertThat(counts.failed()).isOne();
  }

  private static MeshSummary summary(Window... windows) {
    return new MeshSummary(10, List.of(windows), List.of(), 0, 0);
  }

  private static Window window(long eu, long us, long ap) {
    return new Window(List.of(eu, us, ap), List.of(0L, 0L, 0L));
  }
}
