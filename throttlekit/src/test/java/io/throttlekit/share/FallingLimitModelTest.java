package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.FallingLimitModel.Flaw;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the real {@link FleetState} with a falling limit and every report of small fleets. */
@Tag("exploration")
class FallingLimitModelTest {
  private static final long MAX_STATES = 300_000;

  @ParameterizedTest(name = "{0} nodes, limit {1}, {2} falls, {3}, acknowledged {4}")
  @CsvSource({
    "2, 6, 2, EQUAL, true",
    "2, 5, 2, DEMAND, true",
    "2, 6, 2, EQUAL, false",
    "2, 6, 2, DEMAND, false",
    "3, 4, 1, EQUAL, true",
    "3, 4, 1, DEMAND, true",
  })
  void sharesFallToTheLimitWithTheNextHeartbeatOfEachNodeAndNoneToZero(
      int nodes, int limit, int falls, Allocation allocation, boolean acknowledged) {
    Set<String> reached = new HashSet<>();
    Exploration seen =
        Explorer.explore(
            new FallingLimitModel(
                nodes, limit, falls, allocation, acknowledged, Flaw.NONE, reached),
            MAX_STATES);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isGreaterThan(1_000);
    assertThat(reached)
        .containsExactlyInAnyOrder(
            "shares above the limit", "more reserved than the limit and the shares");
  }

  @ParameterizedTest(name = "{0}, acknowledged {1}: {2}")
  @CsvSource({
    "REPORT_LOST, true, Σ share stays above the limit",
    "LIMIT_TOO_HIGH, true, Σ reserved rises",
    "LIMIT_TOO_HIGH, false, Σ share rises",
  })
  void findsAFlaw(Flaw flaw, boolean acknowledged, String broken) {
    FallingLimitModel flawed =
        new FallingLimitModel(2, 6, 2, Allocation.EQUAL, acknowledged, flaw, new HashSet<>());
    assertThat(Explorer.explore(flawed, MAX_STATES).broken()).isEqualTo(broken);
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, {2} falls, {3}, acknowledged {4}")
  @CsvSource({"3, 5, 1, DEMAND, true", "3, 5, 1, DEMAND, false"})
  @Tag("thorough")
  void sharesFallToTheLimitInLargerFleets(
      int nodes, int limit, int falls, Allocation allocation, boolean acknowledged) {
    sharesFallToTheLimitWithTheNextHeartbeatOfEachNodeAndNoneToZero(
        nodes, limit, falls, allocation, acknowledged);
  }
}
