package io.throttlekit.demo.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.TimeSource;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharesTest {
  private int one = 6;
  private int other = 4;
  private boolean away;
  private long millis;

  private final Shares shares = new Shares(List.of(this::one, () -> other), 10, new TestTime());

  /** The time of this test. */
  private final class TestTime implements TimeSource {
    @Override
    public long wallMillis() {
      return millis;
    }

    @Override
    public long monotonicNanos() {
      return millis * 1_000_000;
    }
  }

  private int one() throws IOException {
    if (away) {
      throw new IOException("no answer");
    }
    return one;
  }

  @Test
  void aSumCountsOnceItWasReadTwice() throws IOException {
    read(1);
    assertThat(shares.figures().counted()).isZero();
    read(2);
    Shares.Figures figures = shares.figures();
    assertThat(figures.counted()).isEqualTo(2);
    assertThat(figures.max()).isEqualTo(10);
    assertThat(figures.violations()).isEmpty();
    assertThat(shares.newest()).containsExactly(6, 4);
  }

  @Test
  void aShareThatMovesBetweenTwoReadingsIsNoViolation() throws IOException {
    read(2);
    other = 5;
    read(1);
    one = 5;
    read(2);
    Shares.Figures figures = shares.figures();
    assertThat(figures.read()).isEqualTo(5);
    assertThat(figures.counted()).isEqualTo(2);
    assertThat(figures.violations()).isEmpty();
  }

  @Test
  void aSumAboveTheLimitIsAViolation() throws IOException {
    other = 5;
    read(2);
    Shares.Figures figures = shares.figures();
    assertThat(figures.violations()).containsExactly("11 = [6, 5]");
    assertThat(figures.max()).isEqualTo(11);
    read(100);
    assertThat(shares.figures().violations()).hasSize(20);
  }

  @Test
  void measuresHowLongAnEnvoyHadNothing() throws IOException {
    read(1);
    one = 0;
    read(10);
    one = -1;
    read(10);
    one = 1;
    read(1);
    assertThat(shares.figures().longestAtZeroMillis()).isEqualTo(21 * 50);
    read(3);
    assertThat(shares.figures().longestAtZeroMillis()).as("the longest").isEqualTo(21 * 50);
  }

  @Test
  void failsIfAnEnvoyDoesNotAnswer() {
    away = true;
    read(1);
    assertThatThrownBy(shares::figures).isInstanceOf(IOException.class);
  }

  private void read(int times) {
    for (int i = 0; i < times; i++) {
      millis += 50;
      shares.readAll();
    }
  }
}
