package io.throttlekit.limit.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlopeTest {
  private static final Slope PERFECT = new Slope(3, Double.POSITIVE_INFINITY);

  @Test
  void bothTogetherAreWeightedByTheirPrecision() {
    Slope together = new Slope(1, 3).and(new Slope(5, 1));
    assertThat(together).isEqualTo(new Slope(2, 4)).isEqualTo(new Slope(5, 1).and(new Slope(1, 3)));
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.MIN_VALUE, 1e-300, 1, 1e300, Double.POSITIVE_INFINITY})
  void anUnknownSlopeChangesNothing(double precision) {
    Slope slope = new Slope(7, precision);
    assertThat(slope.and(Slope.UNKNOWN)).isEqualTo(slope);
    assertThat(Slope.UNKNOWN.and(slope)).isEqualTo(slope);
    assertThat(Slope.UNKNOWN.and(Slope.UNKNOWN)).isEqualTo(Slope.UNKNOWN);
  }

  @Test
  void aPerfectSlopeOutweighsOthers() {
    assertThat(PERFECT.and(new Slope(5, 1e300))).isEqualTo(PERFECT);
    assertThat(new Slope(5, 1e300).and(PERFECT)).isEqualTo(PERFECT);
    assertThat(PERFECT.and(new Slope(9, Double.POSITIVE_INFINITY))).isEqualTo(PERFECT);
  }

  @Test
  void aPartOfThePrecisionLeavesTheValue() {
    assertThat(new Slope(7, 8).times(0.25)).isEqualTo(new Slope(7, 2));
    assertThat(new Slope(7, 8).times(2)).isEqualTo(new Slope(7, 16));
    assertThat(PERFECT.times(0.25)).isEqualTo(PERFECT);
  }

  @Test
  void withoutPrecisionNothingIsKnown() {
    assertThat(new Slope(7, 8).times(0)).isEqualTo(Slope.UNKNOWN);
    assertThat(PERFECT.times(0)).isEqualTo(Slope.UNKNOWN);
  }

  @Test
  void thePrecisionCanBeLimited() {
    assertThat(new Slope(7, 8).atMost(20)).isEqualTo(new Slope(7, 8));
    assertThat(new Slope(7, 80).atMost(20)).isEqualTo(new Slope(7, 20));
    assertThat(PERFECT.atMost(20)).isEqualTo(new Slope(3, 20));
  }

  @Test
  void thePrecisionFadesWithoutEndAndTheValueStays() {
    Slope slope = new Slope(7, 1);
    for (int i = 0; i < 10_000; i++) {
      slope = slope.times(0.7);
    }
    assertThat(slope.value()).isEqualTo(7);
    Slope added = slope.and(new Slope(1, 1));
    assertThat(added.value()).isCloseTo(1, within(1e-9));
  }
}
