package io.throttlekit.limit.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Slices of 100 ns. */
class SlicedRegressionTest {
  private static final long SEED = 17;
  private static final long SLICE = 100;

  private final SplittableRandom random = new SplittableRandom(SEED);
  private SlicedRegression regression = new SlicedRegression();

  private record Point(long nanos, double x, double y) {}

  @BeforeEach
  void begin() {
    regression = new SlicedRegression();
    assertThat(regression.take(SLICE)).isEqualTo(Slope.UNKNOWN);
  }

  /** Residuals of 1, −2 and 1 about a slope of 2, with one degree of freedom. */
  @ParameterizedTest
  @ValueSource(
      longs = {0, -1_000, -350, Long.MIN_VALUE + 1_000, Long.MAX_VALUE, Long.MAX_VALUE - 250})
  void thePrecisionIsTheInverseOfTheVariance(long origin) {
    long begin = Math.floorDiv(origin, SLICE) * SLICE; // may overflow, as times do
    add(begin, 1, 11);
    add(begin + 50, 2, 10);
    add(begin + 99, 3, 15);
    add(begin + 300, 9, 9);
    Slope slope = regression.take(SLICE);
    assertThat(slope.value()).isCloseTo(2, within(1e-9));
    assertThat(slope.precision()).isCloseTo(2 / 6.0, within(1e-9));
  }

  @Test
  void aLineIsPerfect() {
    line(0, 3);
    add(300, 0, 0);
    assertThat(regression.take(SLICE)).isEqualTo(new Slope(3, Double.POSITIVE_INFINITY));
  }

  @Test
  void aChangeFromOneSliceToAnotherDoesNotCount() {
    for (int i = 0; i < 10; i++) {
      for (int j = 0; j < 4; j++) {
        double x = 1_000 * i + j;
        add(i * SLICE + j, x, 5_000 * i - 2 * j + (j == 1 ? 0.5 : 0));
      }
    }
    add(20 * SLICE, 0, 0);
    Slope slope = regression.take(SLICE);
    assertThat(slope.value()).isBetween(-2.2, -1.8);
  }

  /** Two slices of two samples have two degrees of freedom, and one slice has one. */
  @Test
  void aSlopeNeedsTwoDegreesOfFreedom() {
    add(0, 1, 10);
    add(1, 2, 12);
    add(300, 0, 0);
    assertThat(regression.take(SLICE)).isEqualTo(Slope.UNKNOWN);
    add(500, 1, 10);
    add(501, 2, 12);
    add(600, 5, 10);
    add(601, 6, 12);
    add(900, 0, 0);
    assertThat(regression.take(SLICE).value()).isEqualTo(2);
  }

  @Test
  void aValueThatDoesNotChangeHasNoSlope() {
    for (int i = 0; i < 50; i++) {
      add(i, 40, random.nextDouble());
    }
    add(300, 40, 0);
    assertThat(regression.take(SLICE)).as("seed %s", SEED).isEqualTo(Slope.UNKNOWN);
  }

  @Test
  void aSliceCountsOnceTheSecondAfterItHasBegun() {
    line(0, 3);
    add(199, 0, 0);
    assertThat(regression.take(SLICE)).isEqualTo(Slope.UNKNOWN);
    add(200, 0, 0);
    add(20, 10, 30); // late, and in time
    assertThat(regression.take(SLICE).value()).isCloseTo(3, within(1e-9));
    add(400, 0, 0);
    assertThat(regression.take(SLICE)).as("no slice counts twice").isEqualTo(Slope.UNKNOWN);
  }

  @Test
  void aLateSampleOfASliceThatHasCountedIsComparedWithTheLateOnes() {
    line(0, 3);
    add(200, 0, 0);
    regression.take(SLICE);
    line(0, 5);
    add(210, 0, 0);
    assertThat(regression.take(SLICE).value()).isEqualTo(5);
  }

  @Test
  void theOrderDoesNotMatterUpToManySlicesLate() {
    List<Point> points = points(200);
    points.forEach(point -> add(point.nanos, point.x, point.y));
    add(100_000, 0, 0);
    Slope sorted = regression.take(SLICE);
    begin();
    List<Point> late = new ArrayList<>(points);
    long[] arrived = new long[points.size()];
    for (int i = 0; i < arrived.length; i++) {
      arrived[i] = points.get(i).nanos + random.nextLong(63 * SLICE);
    }
    late.sort((a, b) -> Long.compare(arrived[points.indexOf(a)], arrived[points.indexOf(b)]));
    assertThat(late).isNotEqualTo(points);
    late.forEach(point -> add(point.nanos, point.x, point.y));
    add(100_000, 0, 0);
    Slope shuffled = regression.take(SLICE);
    assertThat(shuffled.value()).as("seed %s", SEED).isCloseTo(sorted.value(), within(1e-9));
    assertThat(shuffled.precision()).isCloseTo(sorted.precision(), within(1e-6));
  }

  @Test
  void aSampleThatIsTooLateDoesNotCount() {
    add(0, 0, 0);
    line(64 * SLICE, 3);
    for (int i = 0; i < 20; i++) {
      add(99 - i, i, random.nextDouble());
    }
    add(66 * SLICE, 0, 0);
    assertThat(regression.take(SLICE).value()).as("seed %s", SEED).isEqualTo(3);
  }

  @Test
  void aSliceCountsHoweverManyFollowBeforeItIsTaken() {
    line(0, 3);
    add(1_000_000 * SLICE, 0, 0);
    add(1_000_064 * SLICE, 0, 0);
    assertThat(regression.take(SLICE).value()).isEqualTo(3);
    assertThat(regression.take(SLICE)).isEqualTo(Slope.UNKNOWN);
  }

  @ParameterizedTest
  @CsvSource({"150, true", "50, true", "151, false", "49, false"})
  void slicesThatAreNotCompleteAreLostIfTheirLengthChangesMuch(long next, boolean kept) {
    line(0, 3);
    assertThat(regression.take(next)).isEqualTo(Slope.UNKNOWN);
    add(1_000, 9, 0);
    add(5_000, 0, 0);
    assertThat(regression.take(next).value()).isEqualTo(kept ? 3 : 0);
  }

  @Test
  void slicesThatAreCompleteCountThoughTheirLengthChanges() {
    line(0, 3);
    add(200, 0, 0);
    assertThat(regression.take(10_000).value()).isEqualTo(3);
    line(0, 4); // one slice now, after an earlier time than before
    add(9_999, 10, 40);
    add(19_999, 0, 0);
    assertThat(regression.take(10_000)).isEqualTo(Slope.UNKNOWN);
    add(20_000, 0, 0);
    assertThat(regression.take(10_000).value()).isEqualTo(4);
  }

  @Test
  void aTimeThatOverflowsBelongsToTheNextSlice() {
    long begin = Math.floorDiv(Long.MAX_VALUE, SLICE) * SLICE - 100 * SLICE;
    for (int i = 0; i < 200; i++) {
      line(begin + i * SLICE, 1 + i % 2 * 2);
    }
    add(begin + 300 * SLICE, 0, 0);
    assertThat(regression.take(SLICE).value()).isCloseTo(2, within(1e-9));
  }

  @Test
  void latenciesOfAnHourLoseNoPrecision() {
    double hour = 3.6e12;
    for (int i = 0; i < 80; i++) {
      add(i, 1_000 + i, hour + 1_000 * i);
    }
    add(300, 0, 0);
    assertThat(regression.take(SLICE).value()).isCloseTo(1_000, within(1.0));
  }

  private List<Point> points(int slices) {
    List<Point> points = new ArrayList<>();
    for (int slice = 0; slice < slices; slice++) {
      for (int i = 0; i < 5; i++) {
        int x = random.nextInt(50);
        points.add(new Point(slice * SLICE + i, x, 2 * x + 100 * random.nextDouble()));
      }
    }
    return points;
  }

  private void line(long begin, double slope) {
    for (int i = 0; i < 4; i++) {
      add(begin + i, i, slope * i);
    }
  }

  private void add(long nanos, double x, double y) {
    regression.add(nanos, x, y);
  }
}
