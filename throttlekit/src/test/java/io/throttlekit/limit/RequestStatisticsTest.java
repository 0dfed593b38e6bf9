package io.throttlekit.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.stats.Slope;
import org.junit.jupiter.api.Test;

class RequestStatisticsTest {
  private static final long HOUR = 3_600_000_000_000L;

  @Test
  void numbersOutOfRangeAreClamped() {
    assertThat(new RequestStatistics(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE))
        .isEqualTo(new RequestStatistics(HOUR, HOUR, 1_000_000));
    assertThat(new RequestStatistics(Long.MIN_VALUE, -1, 999))
        .isEqualTo(new RequestStatistics(-HOUR, 0, 1_000));
    assertThat(new RequestStatistics(HOUR + 1, HOUR + 1, Long.MIN_VALUE))
        .isEqualTo(new RequestStatistics(HOUR, HOUR, 1_000));
  }

  @Test
  void noRequestsSayNothing() {
    assertThat(RequestStatistics.NONE.slope()).isEqualTo(Slope.UNKNOWN);
    assertThat(RequestStatistics.NONE.arrivals()).isEqualTo(1);
    assertThat(RequestStatistics.of(Slope.UNKNOWN, 1)).isEqualTo(RequestStatistics.NONE);
  }

  @Test
  void aSlopeComesBackWithItsPrecision() {
    RequestStatistics statistics = RequestStatistics.of(new Slope(-50_000, 1e-8), 2.5);
    assertThat(statistics).isEqualTo(new RequestStatistics(-50_000, 10_000, 2_500));
    assertThat(statistics.slope().value()).isEqualTo(-50_000);
    assertThat(statistics.slope().precision()).isCloseTo(1e-8, within(1e-20));
    assertThat(statistics.arrivals()).isEqualTo(2.5);
  }

  @Test
  void aSlopeOfZeroIsKnown() {
    assertThat(RequestStatistics.of(new Slope(0, 1e-6), 1))
        .isEqualTo(new RequestStatistics(0, 1_000, 1_000));
  }

  @Test
  void aPerfectSlopeHasAnErrorOfOneNanosecond() {
    assertThat(RequestStatistics.of(new Slope(7, Double.POSITIVE_INFINITY), 1).slope())
        .isEqualTo(new Slope(7, 1));
    assertThat(RequestStatistics.of(new Slope(7, 4), 1).slope()).isEqualTo(new Slope(7, 1));
  }

  @Test
  void aSlopeWithoutPrecisionIsUnknown() {
    assertThat(RequestStatistics.of(new Slope(7, 0), 1)).isEqualTo(RequestStatistics.NONE);
    assertThat(new RequestStatistics(7, 0, 1_000).slope()).isEqualTo(Slope.UNKNOWN);
  }

  @Test
  void numbersThatAreNoneAreClampedToo() {
    assertThat(RequestStatistics.of(new Slope(Double.NaN, 1), Double.NaN))
        .isEqualTo(new RequestStatistics(0, 1, 1_000));
    assertThat(RequestStatistics.of(new Slope(Double.NEGATIVE_INFINITY, Double.MIN_VALUE), 1e300))
        .isEqualTo(new RequestStatistics(-HOUR, HOUR, 1_000_000));
  }

  @Test
  void manyInFlightAndAnHourDoNotOverflow() {
    Slope slope = new RequestStatistics(HOUR, HOUR, 1_000).slope();
    assertThat(slope.precision()).isPositive().isFinite();
  }
}
