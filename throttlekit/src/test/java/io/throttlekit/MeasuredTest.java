package io.throttlekit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MeasuredTest {
  @ParameterizedTest
  @CsvSource({"++, 2", "+-+, 3", "-++, 3"})
  void passesWithTwoAttemptsOfAtMostThree(String outcomes, int attempts) {
    List<String> failures = new ArrayList<>();
    Iterator<Character> next = outcomes.chars().mapToObj(each -> (char) each).iterator();
    List<Character> run = new ArrayList<>();
    assertThatCode(() -> Measured.twoOfThree(() -> attempt(run, next, failures)))
        .doesNotThrowAnyException();
    assertThat(run).hasSize(attempts);
  }

  @ParameterizedTest
  @CsvSource({"--, 2", "+--, 3", "-+-, 3"})
  void failsWithTheSecondFailureAndNamesTheFirst(String outcomes, int attempts) {
    List<String> failures = new ArrayList<>();
    Iterator<Character> next = outcomes.chars().mapToObj(each -> (char) each).iterator();
    List<Character> run = new ArrayList<>();
    assertThatThrownBy(() -> Measured.twoOfThree(() -> attempt(run, next, failures)))
        .isInstanceOf(AssertionError.class)
        .hasMessage("failure 2")
        .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessage("failure 1"));
    assertThat(run).hasSize(attempts);
  }

  @Test
  void aBrokenMeasurementIsNotRetried() {
    List<String> run = new ArrayList<>();
    assertThatThrownBy(() ->
            Measured.twoOfThree(() -> {
              run.add("once");
              throw new IOException("no process");
            }))
        .isInstanceOf(IOException.class);
    assertThat(run).hasSize(1);
  }

  private static void attempt(
      List<Character> run, Iterator<Character> next, List<String> failures) {
    char outcome = next.next();
    run.add(outcome);
    if (outcome == '-') {
      failures.add("failed");
      throw new AssertionError("failure " + failures.size());
    }
  }
}
