package io.throttlekit.demo.overload;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.load.Course;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OverloadScreenTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final Schedule schedule = new Schedule(Phase.named("0.8,2"), 10);
  private final Map<Limiter, Course> arms = new EnumMap<>(Limiter.class);

  @Test
  void drawsOverTheSameLinesOfATerminal() {
    run(true, StandardCharsets.UTF_8);
    String drawn = bytes.toString(StandardCharsets.UTF_8);
    assertThat(drawn.lines()).hasSize(19 * 4);
    assertThat(drawn.lines()).allMatch(line -> line.replaceAll("\033\\[\\w+", "").length() <= 80);
    assertThat(drawn.split("\033\\[4A", -1)).hasSize(19);
    String last = drawn.substring(drawn.lastIndexOf("\033[4A"));
    assertThat(last)
        .contains("19 s of 20: 2 times the capacity")
        .containsPattern("none +1 █▂█▂█▂█▂█▂█▂ +20 +█")
        .containsPattern("ours .*▄▄▅.*█");
  }

  @Test
  void anAsciiTerminalGetsAsciiCurves() {
    run(true, StandardCharsets.US_ASCII);
    assertThat(bytes.toString(StandardCharsets.US_ASCII)).contains(".#.#").doesNotContain("?");
  }

  @Test
  void withoutATerminalPrintsACompleteSecondEachFiveSeconds() {
    run(false, StandardCharsets.UTF_8);
    assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
        .hasSize(3)
        .first()
        .asString()
        .isEqualTo(
            "  5 s of 20: 0.8 times the capacity; in this second none 1 in time, 0 refused, p99 20"
                + " ms, limit -; ours 0 in time, 1 refused, p99 - ms, limit 4");
  }

  private void run(boolean terminal, Charset charset) {
    Course none = new Course(20, Duration.ofMillis(200), Duration.ofSeconds(1));
    Course ours = new Course(20, Duration.ofMillis(200), Duration.ofSeconds(1));
    arms.put(Limiter.NONE, none);
    arms.put(Limiter.OURS, ours);
    try (PrintStream out = new PrintStream(bytes, true, charset)) {
      OverloadScreen screen = new OverloadScreen(out, terminal, schedule);
      for (int second = 0; second < 20; second++) {
        for (int i = 0; i <= second % 2 * 4; i++) {
          none.answered(second, 200, 20_000_000);
        }
        ours.answered(second, 503, 0);
        ours.limit(second, second);
        screen.show(second + 1, arms);
      }
    }
  }
}
