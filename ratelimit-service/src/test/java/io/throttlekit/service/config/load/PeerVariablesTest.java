package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every variable of envoyproxy/ratelimit is read, or a warning names it; the page says which. */
class PeerVariablesTest {
  private static final Path PAGE = Path.of("..", "docs", "MIGRATION.md");
  private static final Pattern ROW = Pattern.compile("\\| (`.+) \\| (read|other|ignored)\\b.*");
  private static final Pattern NAME = Pattern.compile("`([A-Z][A-Z0-9_]+)`");
  private static final Map<String, List<String>> OWN = Options.of("--policies", "own");

  static List<String> variables() throws IOException {
    return lines("/envoyproxy-ratelimit-variables.txt");
  }

  @Test
  void thePageHasARowForEveryVariable() throws IOException {
    assertThat(documented("read|other|ignored"))
        .containsExactlyInAnyOrderElementsOf(new TreeSet<>(variables()));
  }

  @ParameterizedTest
  @MethodSource("variables")
  void everyVariableIsReadOrNamedInAWarning(String name) throws IOException {
    boolean read = read().contains(name);
    assertThat(documented("ignored").contains(name))
        .as("the page says that it is ignored")
        .isEqualTo(!read);
    if (!read) {
      String set = name.endsWith("_") ? name + "ANY" : name;
      assertThat(warnings(set, Map.of("REDIS_URL", "127.0.0.1:6379")))
          .anyMatch(warning -> warning.contains(set));
    }
  }

  @Test
  void theSettingsKnowNoOtherVariables() throws IOException {
    assertThat(variables()).containsAll(read());
  }

  private static List<String> warnings(String name, Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.put(name, "1");
    return new ConfigLoader(environment).load(OWN).warnings();
  }

  /** Returns the variables that settings or their readers use. */
  private static Set<String> read() {
    Set<String> read = new HashSet<>(Settings.variables());
    for (Setting setting : Settings.ALL) {
      Stream.of("peer", "peer_not", "peer_if").map(setting::attribute).forEach(read::add);
    }
    read.remove("");
    return read;
  }

  private static Set<String> documented(String kinds) throws IOException {
    Set<String> names = new TreeSet<>();
    for (String line : Files.readAllLines(PAGE)) {
      Matcher row = ROW.matcher(line);
      if (row.matches() && row.group(2).matches(kinds)) {
        NAME.matcher(row.group(1)).results().forEach(name -> names.add(name.group(1)));
      }
    }
    return names;
  }

  private static List<String> lines(String resource) throws IOException {
    try (var in = Objects.requireNonNull(PeerVariablesTest.class.getResourceAsStream(resource))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .toList();
    }
  }
}
