package io.throttlekit.spec;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The counterparts reproduce the published counts of the baseline and of window-coupled leasing, so
 * results of the same explorer for the real tier are credible.
 */
class LeasingTest {
  private static final long MANY = 100_000;

  @ParameterizedTest(name = "{0} nodes, limit {1}, batch {2}")
  @CsvSource({
    "1, 4, 2, 11, 21, 8, 5",
    "2, 4, 2, 31, 113, 10, 6",
    "3, 6, 3, 441, 2458, 18, 12",
    "5, 10, 2, 992, 9441, 22, 15",
    "3, 5, 1, 6, 34, 6, 5",
    "4, 12, 4, 10432, 80129, 31, 24",
    "1, 8, 2, 19, 37, 12, 9",
    "2, 8, 2, 55, 209, 14, 10",
    "4, 8, 2, 344, 2593, 18, 12",
    "8, 8, 2, 8762, 131281, 27, 16",
  })
  void carriesAtMostABatchLessOnePerNodeOverTheLimit(
      int nodes, int limit, int batch, long distinct, long generated, int depth, int most) {
    assertThat(limit + nodes * (batch - 1)).isEqualTo(most);
    assertThat(Explorer.explore(new Leasing(nodes, limit, batch, false, false, most), MANY))
        .isEqualTo(new Exploration(distinct, generated, depth, null));
    assertReaches(new Leasing(nodes, limit, batch, false, false, most - 1));
  }

  @ParameterizedTest(name = "{0} nodes, limit {1}, batch {2}")
  @CsvSource({
    "1, 4, 2, 5, 10, 5, 4, 8",
    "2, 4, 2, 8, 29, 5, 4, 12",
    "3, 6, 3, 27, 136, 7, 6, 43",
    "5, 10, 2, 112, 1041, 11, 10, 192",
    "3, 5, 1, 6, 34, 6, 5, 6",
    "4, 12, 4, 256, 1793, 13, 12, 499",
    "1, 8, 2, 9, 18, 9, 8, 16",
    "2, 8, 2, 16, 61, 9, 8, 28",
    "4, 8, 2, 48, 353, 9, 8, 80",
  })
  void admitsTheLimitAndNoMoreWhenUnitsEndWithTheirWindow(
      int nodes,
      int limit,
      int batch,
      long distinct,
      long generated,
      int depth,
      int most,
      long distinctWithReturns) {
    assertThat(limit).isEqualTo(most);
    assertThat(Explorer.explore(new Leasing(nodes, limit, batch, true, false, most), MANY))
        .isEqualTo(new Exploration(distinct, generated, depth, null));
    assertReaches(new Leasing(nodes, limit, batch, true, false, most - 1));

    Exploration returning =
        Explorer.explore(new Leasing(nodes, limit, batch, true, true, most), MANY);
    assertThat(returning.distinct()).isEqualTo(distinctWithReturns);
    assertThat(returning.violation()).isNull();
  }

  private static void assertReaches(Leasing tighter) {
    assertThat(Explorer.explore(tighter, MANY).broken()).isEqualTo("bound");
  }
}
