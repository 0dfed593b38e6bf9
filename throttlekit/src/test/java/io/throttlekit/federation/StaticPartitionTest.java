package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StaticPartitionTest {
  @Test
  void everyRegionHasTheSame() {
    StaticPartition thirds = new StaticPartition(300, List.of("eu", "us", "ap"));
    assertThat(List.of(thirds.part("eu"), thirds.part("us"), thirds.part("ap")))
        .containsExactly(100L, 100L, 100L);
  }

  @Test
  void theFirstHaveOneMoreWhereTheLimitIsNoMultiple() {
    StaticPartition uneven = new StaticPartition(11, List.of("a", "b", "c", "d"));
    assertThat(uneven.regions().stream().map(uneven::part)).containsExactly(3L, 3L, 3L, 2L);
  }

  @Test
  void nothingIsLostOrGainedByDividing() {
    List<String> regions = new ArrayList<>();
    for (int k = 1; k <= 20; k++) {
      regions.add("r" + k);
      for (long limit = k; limit < 3L * k; limit++) {
        StaticPartition each = new StaticPartition(limit, regions);
        assertThat(regions.stream().mapToLong(each::part).sum()).isEqualTo(limit);
      }
    }
  }

  @Test
  void wrongUseIsSaidInWords() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StaticPartition(10, List.of()))
        .withMessage("regions must be one or more different names");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StaticPartition(10, List.of("eu", "eu")))
        .withMessage("regions must be one or more different names");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StaticPartition(1, List.of("eu", "us")))
        .withMessage("a limit of 1 is too small for 2 regions");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StaticPartition(2, List.of("eu", "us")).part("ap"))
        .withMessage("no region is named ap");
  }

  @Test
  void whoGaveTheNamesCannotChangeThemLater() {
    List<String> names = new ArrayList<>(List.of("eu", "us"));
    StaticPartition kept = new StaticPartition(10, names);
    names.set(1, "ap");
    assertThat(kept.part("us")).isEqualTo(5);
  }

  /** Compares with a federation: the offered load equals the limit, but is uneven. */
  @ParameterizedTest(name = "skew {0}")
  @CsvSource({"0, 1", "0.25, 0.833", "0.5, 0.667", "0.75, 0.5", "1, 0.333"})
  void theMoreUnevenTheDemandTheLessOfTheLimitIsUsed(double skew, double used) {
    StaticPartition thirds = new StaticPartition(300, List.of("hot", "cold", "cool"));
    long hot = Math.round(300 * (1.0 / 3 + skew * 2 / 3));
    long others = (300 - hot) / 2;
    long admitted =
        Math.min(hot, thirds.part("hot"))
            + Math.min(others, thirds.part("cold"))
            + Math.min(others, thirds.part("cool"));
    assertThat(admitted / 300.0).isCloseTo(used, within(0.0005));
  }
}
