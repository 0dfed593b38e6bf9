package io.throttlekit.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScreenTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
  private final Counts counts = new Counts(List.of("user   5 per second", "route"));

  @Test
  void drawsOverItsTableOnATerminal() {
    Screen screen = new Screen(out, true);
    add(3, "user   5 per second", Answer.ALLOWED);
    add(2, "user   5 per second", Answer.LIMITED);
    screen.show(1, counts);
    assertThat(text())
        .doesNotContain("\033[4A")
        .containsPattern("user +5 per second +3 +2 +##\033");

    add(1, "user   5 per second", Answer.LIMITED);
    screen.show(2, counts);
    assertThat(text()).contains("\033[4A").containsPattern("user +5 per second +3 +3 +#\033");
  }

  @Test
  void printsALineEachFiveSecondsElsewhere() {
    Screen screen = new Screen(out, false);
    add(1, "route", Answer.LIMITED);
    for (int second = 1; second < 10; second++) {
      screen.show(second, counts);
    }
    add(1, "route", Answer.FAILED);
    screen.show(10, counts);
    assertThat(text())
        .isEqualTo(
            """
               5 s  user 5 per second: 0 allowed, 0 limited;  route: 0 allowed, 1 limited;
              10 s  user 5 per second: 0 allowed, 0 limited;  route: 0 allowed, 1 limited;  1 failed
            """);
  }

  @Test
  void summarizesInOneLineOfJson() {
    add(2, "route", Answer.LIMITED);
    add(1, "user   5 per second", Answer.ALLOWED);
    assertThat(new Summary("grpc", 7, 42, counts).json())
        .isEqualTo(
            "{\"through\":\"grpc\",\"allowed\":1,\"limited\":2,\"failed\":0,\"seconds\":7,\"seed\":42,\"rules\":["
                + "{\"rule\":\"user\",\"allowed\":1,\"limited\":0},"
                + "{\"rule\":\"route\",\"allowed\":0,\"limited\":2}]}");
  }

  private void add(int times, String rule, Answer answer) {
    for (int i = 0; i < times; i++) {
      counts.add(rule, answer);
    }
  }

  private String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
