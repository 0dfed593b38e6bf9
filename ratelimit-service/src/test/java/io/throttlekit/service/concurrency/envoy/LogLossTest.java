package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LogLossTest {
  private static final long SECOND = 1_000_000_000L;

  private final LogLoss loss = new LogLoss(0);

  /** 100 requests a second for 30 s, some of which are logged, each a second late. */
  @ParameterizedTest
  @CsvSource({"100, false", "99, false", "96, false", "93, true", "50, true", "0, true"})
  void aLossOfMoreThanOneInTwentyIsDetected(int logged, boolean much) {
    for (int second = 0; second < 30; second++) {
      loss.succeeded(100, second * SECOND);
      log(second == 0 ? 0 : logged, second * SECOND);
    }
    assertThat(loss.muchIsMissing(30 * SECOND)).isEqualTo(much);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 10, 12, 15})
  void startingTrafficIsNotALoss(int seconds) {
    for (int second = 0; second < seconds; second++) {
      loss.succeeded(100, second * SECOND);
      log(second == 0 ? 0 : 100, second * SECOND);
    }
    assertThat(loss.muchIsMissing((seconds - 1) * SECOND)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 9})
  void withoutReportsNoLossIsAssumed(int aSecond) {
    for (int second = 0; second < 30; second++) {
      loss.succeeded(aSecond, second * SECOND);
    }
    assertThat(loss.muchIsMissing(30 * SECOND)).isFalse();
  }

  private void log(int requests, long now) {
    for (int i = 0; i < requests; i++) {
      loss.logged(now);
    }
  }
}
