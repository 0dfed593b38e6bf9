package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.tier.LeasingNodes.Scope;
import io.throttlekit.tier.WatchedStore.Defect;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the real {@link LeasedTier} in every order of events of small configurations. */
@Tag("exploration")
class LeasedTierExplorationTest {
  private static final long MAX_STATES = 1_000_000;
  private static final Scope FAULTS = new Scope(1, 2, 2, 3, 3, 3, true, true);
  private static final Scope LONGER_FAULTS = new Scope(1, 2, 2, 3, 4, 3, true, true);
  private static final Scope TWO_NODES = new Scope(2, 2, 2, 2, 2, 3, false, true);
  private static final Scope CARRYING = new Scope(1, 2, 2, 2, 3, 5, false, false);

  private static final Set<String> OF_FAULTS =
      Set.of(
          "window: as many admitted as may be",
          "lease: granted in part",
          "lease: nothing left",
          "lease: lost",
          "lease: answer lost",
          "return: lost",
          "return: taken",
          "return: worth nothing",
          "node: a request joined a lease",
          "node: units forfeited",
          "node: units too late");
  private static final Set<String> OF_TOO_LATE_TO_LEASE =
      Set.of(
          "window: as many admitted as may be",
          "acquire: lost",
          "acquire: answer lost",
          "return: taken",
          "node: a request joined a lease");
  private static final Set<String> OF_TWO_NODES =
      Set.of(
          "window: as many admitted as may be",
          "lease: nothing left",
          "node: a request joined a lease",
          "node: units forfeited",
          "node: units too late");
  private static final Set<String> OF_CARRYING =
      Set.of(
          "window: as many admitted as may be",
          "return: taken",
          "return: worth nothing",
          "node: a request joined a lease",
          "node: units too late");

  /** The explored configurations, and the events that some orders must include. */
  static Stream<Arguments> scopes() {
    return Stream.of(
        arguments(FAULTS, OF_FAULTS),
        arguments(TWO_NODES, OF_TWO_NODES),
        arguments(CARRYING, OF_CARRYING));
  }

  static Stream<Arguments> longerScopes() {
    return Stream.of(
        arguments(LONGER_FAULTS, OF_FAULTS),
        arguments(new Scope(1, 2, 1, 3, 2, 3, true, true), OF_TOO_LATE_TO_LEASE),
        arguments(new Scope(2, 2, 2, 3, 3, 4, false, true), OF_TWO_NODES),
        arguments(new Scope(1, 2, 2, 3, 4, 5, false, false), OF_CARRYING));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scopes")
  void neverAdmitsMoreThanPromisedInAnyOrderOfEvents(Scope scope, Set<String> interesting) {
    Set<String> reached = new HashSet<>();
    Exploration seen = explore(scope, Defect.NONE, reached);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isGreaterThan(1_000);
    assertThat(reached).containsAll(interesting);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("longerScopes")
  @Tag("thorough")
  void neverAdmitsMoreThanPromisedInAnyOrderOfLongerRuns(Scope scope, Set<String> interesting) {
    neverAdmitsMoreThanPromisedInAnyOrderOfEvents(scope, interesting);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource({"scopes", "longerScopes"})
  void admitsTooMuchInEveryScopeIfGrantsAreCreditedTwice(Scope scope, Set<String> interesting) {
    assertBreaksTheBound(scope, Defect.GRANTED_TWICE);
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(names = {"OUTLIVES_WINDOW", "RETURNED_TWICE", "RETURNED_TO_ANOTHER_WINDOW"})
  void admitsTooMuchWithADefectOfTheStore(Defect defect) {
    assertBreaksTheBound(LONGER_FAULTS, defect);
  }

  @Test
  void missesAnEventIfReturnsAreLost() {
    Scope scope = new Scope(1, 2, 1, 3, 1, 3, true, true);
    Set<String> reached = new HashSet<>();
    explore(scope, Defect.NONE, reached);
    assertThat(reached).contains("return: taken");
    Set<String> reachedWithoutReturns = new HashSet<>();
    explore(scope, Defect.RETURN_LOST, reachedWithoutReturns);
    assertThat(reachedWithoutReturns).doesNotContain("return: taken");
  }

  @Test
  void aScopeHasMoreRequestsThanItsBound() {
    assertThatThrownBy(() -> new Scope(1, 3, 2, 2, 3, 4, false, false))
        .hasMessage("4 requests cannot exceed the bound");
    assertThat(new Scope(1, 3, 2, 2, 3, 5, false, false).bound()).isEqualTo(4);
  }

  private static void assertBreaksTheBound(Scope scope, Defect defect) {
    assertThat(explore(scope, defect, new HashSet<>()).broken())
        .isEqualTo("at most " + scope.bound() + " per window");
  }

  private static Exploration explore(Scope scope, Defect defect, Set<String> reached) {
    return Explorer.explore(
        new Replay<>(() -> new LeasingNodes(scope, defect, reached)), MAX_STATES);
  }
}
