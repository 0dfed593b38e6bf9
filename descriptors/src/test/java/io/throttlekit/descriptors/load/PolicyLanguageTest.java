package io.throttlekit.descriptors.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.ConcurrencyRule.LimitAlgorithm;
import io.throttlekit.descriptors.policy.WindowText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests the declaration of the policy language, and that the tables of docs/POLICIES.md are those
 * that it gives. With {@code -Dpolicies.write=true} the test writes the tables instead.
 *
 * <p>A table stands in the document below a comment that names it:
 *
 * <ul>
 *   <li>{@code table of keys: PLACE}
 *   <li>{@code table of words: PLACE KEY}
 *   <li>{@code table of effects: PLACE}, of the flags of a place
 *   <li>{@code table of ranges:}, of the concurrency limits
 * </ul>
 */
class PolicyLanguageTest {
  private static final String TABLE = "<!-- table of ";
  private static final Set<String> TYPES =
      Set.of("text", "flag", "number", "decimal", "word", "duration", "mapping", "list", "free");

  /** Places whose keys the tables of others contain. */
  private static final Set<String> SHOWN_ELSEWHERE =
      Set.of("limit", "descriptor_with_limits", "descriptor_with_concurrency", "override_limit");

  private final PolicyLanguage language = PolicyLanguage.declared();

  @Test
  void theTablesOfTheDocumentAreThoseOfTheLanguage() throws IOException {
    Path document =
        Path.of(Objects.requireNonNull(System.getProperty("throttlekit.root")), "docs/POLICIES.md");
    String text = Files.readString(document);
    String expected = withTables(text);
    if (Boolean.getBoolean("policies.write")) {
      Files.writeString(document, expected);
    } else {
      assertThat(document) // as a file: prints the lines that differ
          .as("policy-language.yaml describes how to regenerate the tables of POLICIES.md")
          .hasContent(expected);
    }
    for (String place : language.places()) {
      boolean documented =
          language.place(place).keys().values().stream()
              .anyMatch(key -> !key.attribute("doc").isEmpty());
      if (documented && !SHOWN_ELSEWHERE.contains(place)) {
        assertThat(text).containsPattern(TABLE + "(keys|effects): " + place + " -->");
      }
    }
  }

  @Test
  void everyKeyIsDeclaredCompletely() {
    for (String name : language.places()) {
      Place place = language.place(name);
      assertThat(place.where()).as(name).matches("(in|at) .*");
      place.keys().values().forEach(key -> checkKey(name, key));
    }
  }

  private void checkKey(String place, Key key) {
    String as = place + " " + key.name();
    String type = key.attribute("type");
    assertThat(TYPES).as(as).contains(type);
    switch (type) {
      case "mapping", "list" -> assertThat(language.places()).as(as).contains(key.attribute("of"));
      case "word" -> {
        assertThat(key.words()).as(as).isNotEmpty();
        assertThat(key.words()).as(as).containsAll(defaults(key));
      }
      case "number", "decimal" -> assertThat(key.min()).as(as).isLessThan(key.max());
      case "duration" -> {
        assertThat(key.max().signum()).as(as).isPositive();
        assertThat(key.attribute("too_long")).as(as).isNotEmpty();
        defaults(key)
            .forEach(text ->
                assertThat(WindowText.millis(text) > 0 || WindowText.isZero(text)).isTrue());
      }
      default -> {}
    }
  }

  private static List<String> defaults(Key key) {
    return Stream.of(key.attribute("default")).filter(text -> !text.isEmpty()).toList();
  }

  @Test
  void theDefaultsOfTheRulesAreTheDeclaredOnes() {
    assertThat(
            Loading.onlyRule(
                    "domain: d\ndescriptors:\n  - {key: k, rate_limit:"
                        + " {unit: day, requests_per_unit: 9, tier: leased}}\n")
                .inWords())
        .as("the declared return_idle_after is the one that is not described")
        .endsWith(", leased in adaptive batches");
    assertThat(language.place("concurrency").key("algorithm").words())
        .isEqualTo(Arrays.stream(LimitAlgorithm.values()).map(LimitAlgorithm::id).toList());
  }

  private String withTables(String document) {
    List<String> lines = new ArrayList<>();
    boolean replaced = false;
    for (String line : document.split("\n", -1)) {
      replaced &= line.startsWith("|");
      if (!replaced) {
        lines.add(line);
      }
      if (line.startsWith(TABLE)) {
        String[] name = line.substring(TABLE.length(), line.length() - " -->".length()).split(" ");
        lines.addAll(table(name));
        replaced = true;
      }
    }
    return String.join("\n", lines);
  }

  private List<String> table(String[] name) {
    return switch (name[0]) {
      case "keys:" -> keys(name[1]);
      case "effects:" -> effects(name[1]);
      case "words:" -> allowedValues(name[1], name[2]);
      default -> ranges();
    };
  }

  private List<String> keys(String place) {
    List<String> lines =
        head(place.equals("rate_limit") ? "key" : keyOf(place), "values", "default");
    for (Key key : language.place(place).keys().values()) {
      String byDefault = key.attribute("default");
      String quoted = byDefault.matches("[0-9.]*") ? byDefault : "`" + byDefault + "`";
      String shown = key.attribute("doc_default").isEmpty() ? quoted : key.attribute("doc_default");
      lines.add(row("`" + key.name() + "`", filled(key), shown.isEmpty() ? "–" : shown));
    }
    return lines;
  }

  private static String keyOf(String place) {
    return "key of `" + (place.equals("permit_lease") ? "lease" : place) + "`";
  }

  private List<String> effects(String place) {
    List<String> lines = head("key", "effect");
    for (Key key : language.place(place).keys().values()) {
      if (!key.attribute("doc").isEmpty()) {
        lines.add(row("`" + key.name() + "`", filled(key)));
      }
    }
    return lines;
  }

  private List<String> allowedValues(String place, String name) {
    Key key = language.place(place).key(name);
    Set<String> columns = new LinkedHashSet<>();
    key.cells().values().forEach(cells -> columns.addAll(cells.keySet()));
    List<String> lines =
        head(Stream.concat(Stream.of("`" + name + "`"), columns.stream()).toArray(String[]::new));
    for (String word : key.words()) {
      Map<String, String> cells = key.cells().getOrDefault(word, Map.of());
      lines.add(
          row(
              Stream.concat(
                      Stream.of("`" + word + "`"),
                      columns.stream().map(column -> cells.getOrDefault(column, "")))
                  .toArray(String[]::new)));
    }
    return lines;
  }

  private static List<String> ranges() {
    Map<List<Integer>, List<String>> byRange = new LinkedHashMap<>();
    for (LimitAlgorithm algorithm : LimitAlgorithm.values()) {
      byRange
          .computeIfAbsent(List.of(algorithm.min(), algorithm.max()), range -> new ArrayList<>())
          .add("`" + algorithm.id() + "`");
    }
    List<String> lines = head("algorithm", "default `min`", "default `max`");
    byRange.forEach((range, names) ->
        lines.add(row(String.join(", ", names), "" + range.getFirst(), "" + range.getLast())));
    return lines;
  }

  private static String filled(Key key) {
    String words = key.words().stream().map(w -> "`" + w + "`").collect(Collectors.joining(" "));
    String range = key.range().replace("9007199254740991", "2^53 − 1");
    return key.attribute("doc").replace("{words}", words).replace("{range}", range);
  }

  private static List<String> head(String... columns) {
    return new ArrayList<>(List.of(row(columns), "|" + "---|".repeat(columns.length)));
  }

  private static String row(String... cells) {
    return "| " + String.join(" | ", cells) + " |";
  }
}
