package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPausesTest {
  private static final String DOWN = "Connection refused: /127.0.0.1:6379";

  private final RetryPauses pauses = new RetryPauses();

  @ParameterizedTest
  @ValueSource(
      strings = {
        DOWN,
        "LOADING Redis is loading the dataset in memory",
        "ERR max number of clients reached",
        "connection closed by Redis"
      })
  void aRedisThatMayReturnIsTriedEvery50Millis(String reason) {
    assertThat(after(reason, 6)).containsExactly(10, 20, 40, 50, 50, 50);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "WRONGPASS invalid username-password pair or user is disabled.",
        "NOAUTH HELLO must be called with the client already authenticated",
        "NOAUTH Authentication required.",
        "NOPERM this user has no permissions to run the 'eval' command",
        "ERR invalid password",
        "ERR AUTH <password> called without any password configured for the default user.",
        "[redis://127.0.0.1:7001]: WRONGPASS invalid username-password pair or user is disabled."
      })
  void aRedisThatRefusesTheLoginIsTriedEverySecondAtMost(String reason) {
    assertThat(after(reason, 9)).containsExactly(10, 20, 40, 80, 160, 320, 640, 1_000, 1_000);
  }

  @Test
  void aRedisThatIsRestartedAfterARefusalIsTriedOftenAgain() {
    after("WRONGPASS", 9);
    assertThat(after(DOWN, 2)).containsExactly(50, 50);
  }

  @Test
  void aConnectionEndsThePauses() {
    after("WRONGPASS", 9);
    pauses.reset();
    assertThat(after("WRONGPASS", 2)).containsExactly(10, 20);
  }

  private long[] after(String reason, int failures) {
    return LongStream.range(0, failures).map(_ -> pauses.afterFailure(reason)).toArray();
  }
}
