package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Tests that the tables of docs/CONFIGURATION.md are those that the declared settings give. With
 * {@code -Dconfiguration.write=true} the test writes the tables instead.
 *
 * <p>A table stands in the document below a heading of its name.
 */
class ConfigurationPageTest {
  private static final Path PAGE = Path.of("..", "docs", "CONFIGURATION.md");
  private static final String HEADING = "### ";

  @Test
  void hasEverySettingWithItsDefaultMeaningAndValues() throws IOException {
    String text = Files.readString(PAGE);
    String expected = withTables(text);
    if (Boolean.getBoolean("configuration.write")) {
      Files.writeString(PAGE, expected);
    } else {
      assertThat(PAGE) // as a file: prints the lines that differ
          .as("service-settings.yaml says how to write the tables of CONFIGURATION.md anew")
          .hasContent(expected);
    }
    assertThat(text.lines())
        .containsAll(Settings.TABLES.keySet().stream().map(HEADING::concat).toList());
  }

  private static String withTables(String document) {
    List<String> lines = new ArrayList<>();
    boolean replaced = false;
    for (String line : document.split("\n", -1)) {
      replaced &= line.startsWith("|");
      if (!replaced) {
        lines.add(line);
      }
      List<Setting> table = Settings.TABLES.get(line.replaceFirst("^" + HEADING, ""));
      if (line.startsWith(HEADING) && table != null) {
        lines.add("| setting | default | meaning | values |");
        lines.add("|---|---|---|---|");
        table.forEach(setting -> lines.add(row(setting)));
        replaced = true;
      }
    }
    return String.join("\n", lines);
  }

  private static String row(Setting setting) {
    String words =
        setting.form().words().stream()
            .map(word -> "`" + word + "`")
            .collect(Collectors.joining(", "));
    String values =
        setting
            .attribute("values")
            .replace("{min}", setting.attribute("min"))
            .replace("{max}", setting.attribute("max"))
            .replace("{words}", words);
    return "| `%s` | `%s` | %s | %s |"
        .formatted(setting, Yaml.print(setting.fallback()), setting.attribute("meaning"), values);
  }
}
