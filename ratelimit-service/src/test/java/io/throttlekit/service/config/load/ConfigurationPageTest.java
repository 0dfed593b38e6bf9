package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Compares the table of docs/CONFIGURATION.md with the settings. */
class ConfigurationPageTest {
  private static final Path PAGE = Path.of("..", "docs", "CONFIGURATION.md");

  @Test
  void hasEverySettingInTheOrderOfTheCodeWithItsDefaultAndNoOther() throws IOException {
    List<String> rows =
        Files.readAllLines(PAGE).stream()
            .filter(line -> line.matches("\\| `[a-z_]+\\.[a-z_.]+` \\|.*"))
            .map(line ->
                line.replaceFirst("^(\\| `[^`]*` \\| `[^`]*` \\|) [^|]+ \\| [^|]+ \\|$", "$1"))
            .toList();
    assertThat(rows)
        .containsExactlyElementsOf(
            Settings.ALL.stream().map(ConfigurationPageTest::beginning).toList());
  }

  private static <T> String beginning(Setting<T> setting) {
    String printed = setting.form().printer().apply(setting.fallback());
    return "| `" + setting.path() + "` | `" + printed + "` |";
  }
}
