package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.ManualTime;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
  private final ManualTime time = new ManualTime(0);
  private final CircuitBreaker breaker = new CircuitBreaker(time, 3, 100);

  @Test
  void needsNumbersFromOne() {
    assertThatIllegalArgumentException().isThrownBy(() -> new CircuitBreaker(time, 0, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new CircuitBreaker(time, 1, 0));
  }

  @Test
  void opensAfterSoManyFailuresInARow() {
    assertThat(breaker.failed()).isFalse();
    assertThat(breaker.failed()).isFalse();
    assertThat(breaker.allows()).isTrue();
    assertThat(breaker.failed()).isTrue();
    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.allows()).isFalse();
    assertThat(breaker.failed()).isFalse();
  }

  @Test
  void anAnswerBetweenFailuresStartsTheCountAnew() {
    breaker.failed();
    breaker.failed();
    assertThat(breaker.succeeded()).isFalse();
    breaker.failed();
    breaker.failed();
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void letsOneCallProbeInEachIntervalAndNoBurstAfterALongTime() {
    open();
    time.advance(99);
    assertThat(breaker.allows()).isFalse();
    time.advance(1);
    assertThat(breaker.allows()).isTrue();
    assertThat(breaker.allows()).isFalse();
    time.advance(1_000);
    assertThat(breaker.allows()).isTrue();
    assertThat(breaker.allows()).isFalse();
  }

  @Test
  void closesOnAnAnswerAndCountsFromNothingAgain() {
    open();
    assertThat(breaker.succeeded()).isTrue();
    assertThat(breaker.allows()).isTrue();
    breaker.failed();
    breaker.failed();
    assertThat(breaker.isOpen()).isFalse();
  }

  @Test
  void aStepOfTheWallClockProbesNothing() {
    open();
    time.setWall(1_000_000);
    assertThat(breaker.allows()).isFalse();
  }

  private void open() {
    for (int i = 0; i < 3; i++) {
      breaker.failed();
    }
  }
}
