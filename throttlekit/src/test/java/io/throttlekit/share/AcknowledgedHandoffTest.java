package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.share.AcknowledgedHandoff.Reserve;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The counterpart reproduces the published counts of acknowledged handoff, and its refutations. */
@Tag("exploration")
class AcknowledgedHandoffTest {
  private static final long MANY = 1_000_000;
  private static final int ANY = Integer.MAX_VALUE;

  @ParameterizedTest(name = "limit {0}, {1} grants, trimmed {2}")
  @CsvSource({
    "4, 2, true, 12387, 81413, 26",
    "6, 2, true, 38223, 0, 0",
    "4, 1, false, 624, 3113, 16",
    "4, 2, false, 20914, 132229, 29",
  })
  void requestsInFlightReachTheLimitAndNoMore(
      int limit, int grants, boolean trimmed, long distinct, long generated, int depth) {
    Exploration seen =
        explore(limit, grants, trimmed, Reserve.MAY_APPLY_AND_IN_FLIGHT, false, limit, limit);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).isEqualTo(distinct);
    if (depth > 0) { // published with these
      assertThat(seen.generated()).isEqualTo(generated);
      assertThat(seen.depth()).isEqualTo(depth);
    }
    assertThat(
            explore(
                    limit,
                    grants,
                    trimmed,
                    Reserve.MAY_APPLY_AND_IN_FLIGHT,
                    false,
                    limit - 1,
                    limit)
                .broken())
        .isEqualTo("GlobalCap");
    assertThat(
            explore(
                    limit,
                    grants,
                    trimmed,
                    Reserve.MAY_APPLY_AND_IN_FLIGHT,
                    false,
                    limit,
                    limit - 1)
                .broken())
        .isEqualTo("InflightCap");
  }

  @Test
  @Tag("thorough")
  void requestsInFlightReachTheLimitAndNoMoreWithThreeGrantsInALife() {
    assertThat(explore(4, 3, false, Reserve.MAY_APPLY_AND_IN_FLIGHT, false, 4, 4))
        .isEqualTo(new Exploration(250_624, 1_785_951, 37, null));
  }

  @ParameterizedTest(name = "{0}, trimmed {1}, torn {2}")
  @CsvSource({
    "COMMITTED_SNAPSHOT, true, false, 12",
    "MAY_APPLY, true, false, 14",
    "OCCUPANCY, true, false, 12",
    "MAY_APPLY_AND_IN_FLIGHT, false, true, 14",
  })
  void withoutEachTermOrWithATornReportTheLimitIsExceeded(
      Reserve reserve, boolean trimmed, boolean torn, int depth) {
    Exploration seen = explore(4, 2, trimmed, reserve, torn, ANY, 4);
    assertThat(seen.broken()).isEqualTo("InflightCap");
    assertThat(seen.depth()).as("%s", seen.violation()).isEqualTo(depth);
  }

  @ParameterizedTest(name = "{0}, trimmed {1}, torn {2}")
  @CsvSource({
    "COMMITTED_SNAPSHOT, true, false, 36415, 252697, 30",
    "MAY_APPLY, true, false, 10397, 69109, 26",
    "MAY_APPLY_AND_IN_FLIGHT, false, true, 58534, 419987, 34",
  })
  void aWeakerReserveExceedsTheLimitByHalf(
      Reserve reserve, boolean trimmed, boolean torn, long distinct, long generated, int depth) {
    assertThat(explore(4, 2, trimmed, reserve, torn, ANY, 6))
        .isEqualTo(new Exploration(distinct, generated, depth, null));
    assertThat(explore(4, 2, trimmed, reserve, torn, ANY, 5).broken()).isEqualTo("InflightCap");
  }

  private static Exploration explore(
      int limit,
      int grants,
      boolean trimmed,
      Reserve reserve,
      boolean torn,
      int maxShares,
      int maxInFlight) {
    return Explorer.explore(
        new AcknowledgedHandoff(limit, grants, trimmed, reserve, torn, maxShares, maxInFlight),
        MANY);
  }
}
