package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeshScenarioTest {
  private final MeshScenario scenario = MeshScenario.within(60);

  @Test
  void sixWindowsFitOfAtMostTenSecondsEach() {
    assertThat(scenario).isEqualTo(new MeshScenario(10_000));
    assertThat(MeshScenario.within(3_600)).isEqualTo(scenario);
    assertThat(MeshScenario.within(MeshScenario.MIN_SECONDS).windowMillis()).isEqualTo(3_000);
    assertThat(scenario.limit()).isEqualTo(300);
  }

  @Test
  void aBusyRegionOffersOneAndAHalfTimesTheLimit() {
    for (long at : new long[] {-1, 0, 9_999, 10_000, 20_000, 59_999, 60_000}) {
      double all = IntStream.range(0, 3).mapToDouble(region -> scenario.rate(region, at)).sum();
      assertThat(all * 10).as("at %d ms", at).isCloseTo(450, offset(.001));
    }
    assertThat(scenario.rate(0, 0)).isGreaterThan(3 * scenario.rate(2, 0));
    assertThat(scenario.rate(2, 10_000)).isGreaterThan(3 * scenario.rate(0, 10_000));
  }

  @Test
  void cutsARegionOffForTwoWindowsOfEachSix() {
    for (long cycle : new long[] {0, 60_000}) {
      assertThat(scenario.isCut(cycle + 22_499)).isFalse();
      assertThat(scenario.isCut(cycle + 22_500)).isTrue();
      assertThat(scenario.isCut(cycle + 42_499)).isTrue();
      assertThat(scenario.isCut(cycle + 42_500)).isFalse();
    }
    assertThat(scenario.isCut(-1)).isFalse();
  }
}
