package io.throttlekit.demo.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.load.Course.Figures;
import java.time.Duration;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class CourseTest {
  private static final long MILLI = 1_000_000;

  private final Course course = new Course(4, Duration.ofMillis(200), Duration.ofSeconds(1));

  @Test
  void countsGoodLateRefusedAndFailedApart() {
    course.answered(1, 200, 200 * MILLI);
    course.answered(1, 200, 200 * MILLI + 1);
    course.answered(2, 503, MILLI);
    course.answered(2, 429, MILLI);
    course.answered(2, 504, MILLI);
    course.failed(3);
    assertThat(course.figures(0, 4))
        .isEqualTo(new Figures(1, 1, 2, 2, OptionalInt.of(1000), OptionalInt.empty()));
    assertThat(course.figures(0, 1).offered()).isZero();
    assertThat(course.figures(1, 3).offered()).isEqualTo(5);
  }

  @Test
  void p99IsRoundedUpToMillisecondsAndExcludesRefusals() {
    for (int i = 1; i <= 98; i++) {
      course.answered(0, 200, 10 * MILLI);
    }
    course.answered(0, 200, 50 * MILLI + 1);
    course.answered(0, 200, 900 * MILLI);
    for (int i = 0; i < 1_000; i++) {
      course.answered(0, 503, 0);
    }
    assertThat(course.figures(0, 1).p99Millis()).hasValue(51);
    assertThat(course.figures(1, 2).p99Millis()).isEmpty();
  }

  @Test
  void aTimedOutRequestCountsWithTheClientTimeout() {
    course.answered(0, 200, 10 * MILLI);
    course.failed(0);
    assertThat(course.figures(0, 1).p99Millis()).hasValue(1000);
  }

  @Test
  void goodputIsOfTheSmallerOfLoadAndCapacity() {
    for (int i = 0; i < 80; i++) {
      course.answered(0, 200, MILLI);
    }
    for (int i = 0; i < 120; i++) {
      course.answered(0, 503, MILLI);
    }
    Figures figures = course.figures(0, 1);
    assertThat(figures.goodput(100)).isEqualTo(0.8);
    assertThat(figures.goodput(400)).isEqualTo(0.4);
    assertThat(course.figures(1, 2).goodput(100)).isZero();
  }

  @Test
  void theLimitIsTheMedianOfItsSamples() {
    course.limit(0, 40);
    course.limit(1, 0);
    course.limit(3, 30);
    assertThat(course.figures(0, 4).limit()).hasValue(30);
    assertThat(course.figures(1, 2).limit()).hasValue(0);
    assertThat(course.figures(2, 3).limit()).isEmpty();
  }
}
