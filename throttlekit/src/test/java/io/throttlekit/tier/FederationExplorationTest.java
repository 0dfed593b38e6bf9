package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.tier.FederatedNodes.Defect;
import io.throttlekit.tier.FederatedNodes.Faults;
import io.throttlekit.tier.FederatedNodes.Scope;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the real federation in every order of events of small configurations. */
@Tag("exploration")
class FederationExplorationTest {
  private static final long MAX_STATES = 150_000;
  private static final boolean THOROUGH = Boolean.getBoolean("throttlekit.thorough");

  /** Ticks of a ms; one more takes five times as long. */
  private static final int TICKS = THOROUGH ? 4 : 3;

  /** Ms of the first window that have passed before the ticks with the most kinds of faults. */
  private static final int BEGUN = THOROUGH ? 0 : 1;

  private static final Faults NONE = Faults.NONE;
  private static final Faults ONE_EVICTION = new Faults(0, 0, 1);

  /** The explored configurations, and the events that some orders must include. */
  static Stream<Arguments> scopes() {
    return Stream.of(
        arguments(
            "a region of one process, calls lost, late and twice, and what it gives back",
            new Scope(1, false, 2, 2, 3, BEGUN, 1, TICKS - BEGUN, 3, false, new Faults(1, 1, 1)),
            Set.of(
                "lease: lost",
                "lease: answer lost",
                "lease: twice",
                "return: lost",
                "return: twice",
                "return: taken",
                "return: worth nothing",
                "node: units forfeited",
                "node: units too late")),
        arguments(
            "two regions",
            new Scope(2, false, 1, 1, 3, 0, 1, TICKS, 3, false, NONE),
            Set.of("node: units forfeited")),
        arguments(
            "an escrow in the middle of a window, calls lost and twice",
            new Scope(2, true, 2, 1, 12, 0, 4, 1, 3, false, new Faults(1, 1, 0)),
            Set.of(
                "refill: put in",
                "refill: lost",
                "refill: answer lost",
                "refill: twice",
                "take: given",
                "take: answer lost",
                "lease: twice")),
        arguments(
            "an escrow when its window ends, calls lost and twice",
            new Scope(1, true, 2, 1, 12, 4, 4, 2, 3, false, new Faults(1, 1, 0)),
            Set.of(
                "refill: lost",
                "refill: answer lost",
                "refill: twice",
                "refill: too late",
                "take: given",
                "take: units of a window that is over are there",
                "release: lost",
                "return: worth nothing",
                "node: units forfeited",
                "node: units too late")),
        arguments(
            "an escrow and the whole limit of the next window",
            new Scope(1, true, 2, 1, 12, 8, 4, 2, 4, false, NONE),
            Set.of(
                "refill: too late",
                "take: given",
                "take: units of a window that is over are there",
                "node: units forfeited")),
        arguments(
            "a process that gives back what it has, and what the escrow has",
            new Scope(1, true, 2, 1, 12, 0, 4, 1, 3, false, ONE_EVICTION),
            Set.of("refill: put in", "take: given", "release: given", "return: taken")),
        arguments(
            "a coordinator that is left alone when it does not answer",
            new Scope(2, true, 2, 1, 12, 0, 4, 1, 3, true, new Faults(1, 0, 0)),
            Set.of("lease: left alone", "refill: lost", "take: given")));
  }

  @Test
  @Tag("thorough")
  void neverAdmitsMoreThanTheLimitWhenAWindowEndsByTheMs() {
    neverAdmitsMoreThanTheLimitInAnyOrderOfEvents(
        "an escrow when its window ends, by the ms",
        new Scope(1, true, 2, 1, 6, 2, 1, 4, 3, false, NONE),
        Set.of(
            "refill: put in",
            "refill: too late",
            "take: given",
            "take: units of a window that is over are there",
            "node: units forfeited"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("scopes")
  void neverAdmitsMoreThanTheLimitInAnyOrderOfEvents(
      String what, Scope scope, Set<String> interesting) {
    Set<String> reached = new HashSet<>();
    Exploration seen = explore(scope, Defect.NONE, reached);
    assertThat(seen.violation()).as(what).isNull();
    assertThat(seen.distinct()).isGreaterThan(5_000);
    assertThat(reached)
        .as(what)
        .containsAll(interesting)
        .contains("window: the whole limit admitted");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("scopes")
  void exceedsTheLimitInEveryScopeIfGrantsAreCreditedTwice(
      String what, Scope scope, Set<String> interesting) {
    assertExceedsTheLimit(Defect.GRANTED_TWICE, scope);
  }

  @Test
  void exceedsTheLimitIfUnitsOfTheEscrowCountTwice() {
    assertExceedsTheLimit(
        Defect.TAKEN_TWICE, new Scope(2, true, 2, 1, 12, 0, 4, 1, 3, false, NONE));
    assertExceedsTheLimit(
        Defect.REFILLED_AGAIN,
        new Scope(2, true, 2, 1, 12, 0, 4, 1, 3, false, new Faults(0, 1, 0)));
  }

  @Test
  @Tag("thorough")
  void exceedsTheLimitIfUnitsOutliveTheirWindowOrTheirReturn() {
    assertExceedsTheLimit(
        Defect.OUTLIVES_WINDOW,
        new Scope(1, false, 2, 2, 3, 0, 1, 4, 3, false, new Faults(1, 1, 1)));
    assertExceedsTheLimit(
        Defect.RELEASED_AND_KEPT, new Scope(2, true, 2, 1, 12, 0, 4, 1, 3, false, ONE_EVICTION));
  }

  private static void assertExceedsTheLimit(Defect defect, Scope scope) {
    assertThat(explore(scope, defect, new HashSet<>()).broken())
        .isEqualTo("at most " + scope.limit() + " per window");
  }

  @Test
  void missesAnEventIfReturnsAreLost() {
    Scope small = new Scope(1, false, 2, 2, 3, 1, 1, 1, 3, false, ONE_EVICTION);
    Set<String> reached = new HashSet<>();
    explore(small, Defect.NONE, reached);
    assertThat(reached).contains("return: taken");
    Set<String> reachedWithoutReturns = new HashSet<>();
    explore(small, Defect.RETURN_LOST, reachedWithoutReturns);
    assertThat(reachedWithoutReturns).doesNotContain("return: taken");
  }

  @Test
  void aScopeHasMoreRequestsThanItsLimit() {
    assertThatThrownBy(() -> new Scope(1, true, 2, 1, 12, 0, 4, 1, 2, false, NONE))
        .hasMessage("2 requests cannot exceed the limit");
  }

  private static Exploration explore(Scope scope, Defect defect, Set<String> reached) {
    return Explorer.explore(
        new Replay<>(() -> new FederatedNodes(scope, defect, reached)), MAX_STATES);
  }
}
