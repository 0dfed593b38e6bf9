package io.throttlekit.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.tier.FederatedNodes.Scope;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The real federation in every order of events of small configurations. */
class FederationExplorationTest {
  private static final long MOST_STATES = 100_000;

  @ParameterizedTest(name = "{0} nodes, one region {1}, limit {2}, batch {3}, window {4} ms")
  @CsvSource({
    "1, false, 2, 2, 3, 4, 2, true",
    "2, false, 1, 1, 3, 4, 1, false",
    "2, true, 2, 1, 3, 3, 1, false",
  })
  void noOrderOfEventsAdmitsMoreThanTheLimit(
      int nodes,
      boolean together,
      long limit,
      long batch,
      long windowMillis,
      int ticks,
      int requests,
      boolean faults) {
    Scope scope = new Scope(nodes, together, limit, batch, windowMillis, ticks, requests, faults);
    Exploration seen = Explorer.explore(new Replay<>(() -> new FederatedNodes(scope)), MOST_STATES);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isGreaterThan(1_000);
  }
}
