package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.tier.LeasingNodes.Scope;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the real {@link LeasedTier} in every order of events of small configurations. */
@Tag("exploration")
class LeasedTierExplorationTest {
  private static final long MAX_STATES = 1_000_000;

  @ParameterizedTest(name = "{0} nodes, limit {1}, batch {2}, window {3} ms, coupled {7}")
  @CsvSource({
    "1, 2, 2, 3, 4, 2, true, true",
    "2, 2, 2, 2, 2, 2, false, true",
    "1, 3, 2, 2, 3, 2, false, false",
  })
  void neverAdmitsMoreThanPromisedInAnyOrderOfEvents(
      int nodes,
      long limit,
      long batch,
      long windowMillis,
      int ticks,
      int requests,
      boolean faults,
      boolean coupled) {
    Scope scope = new Scope(nodes, limit, batch, windowMillis, ticks, requests, faults, coupled);
    Exploration seen = Explorer.explore(new Replay<>(() -> new LeasingNodes(scope)), MAX_STATES);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isGreaterThan(1_000);
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, batch {2}, window {3} ms, coupled {7}")
  @CsvSource({
    "1, 2, 2, 3, 4, 3, true, true",
    "2, 2, 2, 3, 3, 2, false, true",
    "1, 3, 2, 3, 4, 3, false, false",
  })
  @Tag("thorough")
  void neverAdmitsMoreThanPromisedInAnyOrderOfLongerRuns(
      int nodes,
      long limit,
      long batch,
      long windowMillis,
      int ticks,
      int requests,
      boolean faults,
      boolean coupled) {
    neverAdmitsMoreThanPromisedInAnyOrderOfEvents(
        nodes, limit, batch, windowMillis, ticks, requests, faults, coupled);
  }
}
