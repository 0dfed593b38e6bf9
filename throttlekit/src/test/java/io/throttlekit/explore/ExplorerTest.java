package io.throttlekit.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExplorerTest {

  @Test
  void countsStatesStepsAndDepthAsTlcDoes() {
    Exploration seen = Explorer.explore(new Jugs(3, 5, -1), 100);
    // Of 24 levels the 16 where a jug is full or empty.
    assertThat(seen).isEqualTo(new Exploration(16, 1 + 16 * 6, 8, null));
  }

  @Test
  void findsAShortestWayToABrokenInvariant() {
    Exploration seen = Explorer.explore(new Jugs(3, 5, 4), 100);
    assertThat(seen.broken()).isEqualTo("never 4");
    assertThat(seen.violation())
        .asString()
        .isEqualTo(
            """
            never 4 is broken:
              initially: Level[small=0, big=0]
              fill big: Level[small=0, big=5]
              pour to small: Level[small=3, big=2]
              empty small: Level[small=0, big=2]
              pour to small: Level[small=2, big=0]
              fill big: Level[small=2, big=5]
              pour to small: Level[small=3, big=4]\
            """);
  }

  @Test
  void endsAtABrokenInitialState() {
    assertThat(Explorer.explore(new Jugs(3, 5, 0), 100))
        .isEqualTo(
            new Exploration(
                1,
                1,
                1,
                new Exploration.Violation("never 0", List.of("initially: Level[small=0, big=0]"))));
  }

  @Test
  void failsBeyondTheMaximumOfStates() {
    assertThat(Explorer.explore(new Jugs(3, 5, -1), 16).distinct()).isEqualTo(16);
    assertThatThrownBy(() -> Explorer.explore(new Jugs(3, 5, -1), 15))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("more than 15 states");
  }

  @Test
  void drivesARealObjectThroughTheSameStates() {
    assertThat(Explorer.explore(new Replay<>(() -> new RealJugs(3, 5, -1)), 100))
        .isEqualTo(Explorer.explore(new Jugs(3, 5, -1), 100));
    assertThat(Explorer.explore(new Replay<>(() -> new RealJugs(3, 5, 4)), 100))
        .isEqualTo(Explorer.explore(new Jugs(3, 5, 4), 100));
  }

  @Test
  void findsAnEventThatBreaksAnInvariantAndLeavesTheSnapshotAsItWas() {
    assertThat(Explorer.explore(new Replay<>(Refusing::new), 10).broken()).isEqualTo("refused");
  }

  /** Breaks its only invariant by an event that changes nothing that can be seen. */
  private static final class Refusing implements Subject<String> {
    private boolean refused;

    @Override
    public List<String> enabled() {
      return List.of("refuse");
    }

    @Override
    public void apply(String event) {
      refused = true;
    }

    @Override
    public Object snapshot() {
      return "unchanged";
    }

    @Override
    public @Nullable String broken() {
      return refused ? "refused" : null;
    }
  }

  private record Level(int small, int big) {}

  /** Two jugs that are filled, emptied and poured into each other. */
  private record Jugs(int small, int big, int forbidden) implements Model<Level> {

    @Override
    public List<Level> initial() {
      return List.of(new Level(0, 0));
    }

    @Override
    public List<Step<Level>> steps(Level level) {
      int toBig = Math.min(level.small(), big - level.big());
      int toSmall = Math.min(level.big(), small - level.small());
      return List.of(
          new Step<>("fill small", new Level(small, level.big())),
          new Step<>("fill big", new Level(level.small(), big)),
          new Step<>("empty small", new Level(0, level.big())),
          new Step<>("empty big", new Level(level.small(), 0)),
          new Step<>("pour to big", new Level(level.small() - toBig, level.big() + toBig)),
          new Step<>("pour to small", new Level(level.small() + toSmall, level.big() - toSmall)));
    }

    @Override
    public @Nullable String broken(Level level) {
      return level.big() == forbidden ? "never " + forbidden : null;
    }
  }

  /** The same as a mutable object. */
  private static final class RealJugs implements Subject<String> {
    private final Jugs jugs;
    private Level level = new Level(0, 0);

    RealJugs(int small, int big, int forbidden) {
      this.jugs = new Jugs(small, big, forbidden);
    }

    @Override
    public List<String> enabled() {
      List<String> events = new ArrayList<>();
      jugs.steps(level).forEach(step -> events.add(step.event()));
      return events;
    }

    @Override
    public void apply(String event) {
      level =
          jugs.steps(level).stream()
              .filter(step -> step.event().equals(event))
              .findFirst()
              .orElseThrow()
              .next();
    }

    @Override
    public Object snapshot() {
      return level;
    }

    @Override
    public @Nullable String broken() {
      return jugs.broken(level);
    }
  }
}
