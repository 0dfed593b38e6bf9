package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests damaged configuration of every kind: it is read, or rejected with a message, and never
 * throws.
 */
@Tag("slow")
class MalformedInputTest {

  private static final List<String> SCRAPS =
      List.of(
          "",
          " ",
          "-1",
          "65536",
          "1e9",
          "NaN",
          "nan",
          "tru",
          "yes",
          "null",
          "~",
          "[",
          "{",
          "]",
          "}",
          "%",
          "$HOME",
          "\\",
          "\"",
          "'",
          "\t",
          "a:b",
          ": ",
          "- ",
          "&a",
          "*a",
          "!!int",
          "|",
          ">",
          "😀",
          "\u202e",
          "9".repeat(400),
          "10",
          "10x",
          "1h1",
          "::",
          "http://",
          "//",
          "\n",
          "0x10");

  @TempDir private Path folder;

  @Test
  void malformedVariablesAreRejectedWithAMessageSeed11() {
    SplittableRandom random = new SplittableRandom(11);
    int refused = 0;
    for (int i = 0; i < 2_000; i++) {
      Setting setting = Settings.ALL.get(random.nextInt(Settings.ALL.size()));
      String value = scraps(random);
      Map<String, String> environment = new HashMap<>();
      environment.put("THROTTLEKIT_POLICIES_PATHS", "p");
      if (environment.containsKey(setting.variable()) && value.isBlank()) {
        continue; // as if it were not set, and then there are no policies
      }
      environment.put(setting.variable(), value);
      refused += check(new ConfigLoader(environment).load(Map.of()), setting.variable());
    }
    assertThat(refused).isGreaterThan(1_000);
  }

  @Test
  void malformedOptionsAreRejectedWithAMessageSeed12() {
    SplittableRandom random = new SplittableRandom(12);
    int refused = 0;
    for (int i = 0; i < 500; i++) {
      String value = scraps(random);
      refused +=
          check(
              new ConfigLoader(Map.of()).load(Options.of("--policies", "p", "--grpc-port", value)),
              "--grpc-port");
    }
    assertThat(refused).isGreaterThan(400);
  }

  @Test
  void damagedFilesAreReadOrRejectedWithAMessageSeed13() throws IOException {
    String whole = new ConfigLoader(Map.of()).load(Map.of()).yaml();
    SplittableRandom random = new SplittableRandom(13);
    int refused = 0;
    for (int i = 0; i < 1_000; i++) {
      int at = random.nextInt(whole.length());
      int until = Math.min(whole.length(), at + random.nextInt(12));
      String damaged = whole.substring(0, at) + scraps(random) + whole.substring(until);
      Path file = Files.writeString(folder.resolve("c.yaml"), damaged);
      LoadedConfig loaded =
          new ConfigLoader(Map.of())
              .load(Options.of("--policies", "p", "--config", file.toString()));
      refused += check(loaded, file + ":");
    }
    assertThat(refused).isGreaterThan(300);
  }

  /** Returns 1 when the input was rejected; each message is one line that begins with its place. */
  private static int check(LoadedConfig loaded, String place) {
    assertThat(loaded.config() == null).isEqualTo(!loaded.errors().isEmpty());
    for (String error : loaded.errors()) {
      assertThat(error).contains(place).hasSizeLessThan(600).doesNotContain("Exception");
    }
    return loaded.errors().isEmpty() ? 0 : 1;
  }

  private static String scraps(SplittableRandom random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      text.append(SCRAPS.get(random.nextInt(SCRAPS.size())));
    }
    return text.toString();
  }
}
