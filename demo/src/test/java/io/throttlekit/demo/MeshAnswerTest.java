package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MeshAnswerTest {

  @ParameterizedTest(name = "sent at {0} ms, answered at {1}, reset {2} s: window {3}")
  @CsvSource({
    "20000, 29999, -1, 2", // between two borders, whatever the response reports
    "20000, 29999,  3, 2",
    "29990, 30010,  0, 2", // across a border: the response decides
    "29990, 30010,  1, 2",
    "29990, 30010, 10, 3",
    "29990, 30010,  9, 3",
    "29990, 30010, -1, -1", // unknown
    "29990, 30010,  5, -1", // the reported reset time is impossible
    "29990, 40010,  8, 3", // across two borders
    "29990, 40010, 10, -1", // the middle one or the last one
  })
  void belongsToTheWindowThatContainsItOrThatItsResetNames(
      long earliestMillis, long latestMillis, long resetSeconds, long window) {
    MeshAnswer answer =
        new MeshAnswer(
            0, Answer.ALLOWED, earliestMillis * 1_000, latestMillis * 1_000, resetSeconds);
    assertThat(answer.window(10_000)).isEqualTo(window);
  }
}
