package io.throttlekit.service.telemetry.mapping;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads a mapping file of the Prometheus statsd exporter.
 *
 * <p>A mapping with a mistake is left out, and all others apply. Sizes are bounded, so that no file
 * makes a scrape slow: the regular expressions of all mappings together have at most {@value
 * #MAX_PROGRAM} instructions.
 */
final class MappingFile {
  private static final int MAX_MAPPINGS = 1_000;
  private static final int MAX_LABELS = 32;
  private static final int MAX_PATTERN = 1_000;
  private static final int MAX_PROGRAM = 20_000;
  private static final int MAX_REPEATS = 1_000;
  private static final int MAX_WARNINGS = 10;

  private static final Pattern GLOB =
      Pattern.compile("(?:(?:\\*|[A-Za-z_][A-Za-z0-9_-]*)\\.)*(?:\\*|[A-Za-z_][A-Za-z0-9_-]*)");
  private static final Pattern NAME =
      Pattern.compile("(?:[A-Za-z_]|\\$\\{?[0-9]+}?)(?:[A-Za-z0-9_]|\\$\\{?[0-9]+}?)*");
  private static final Pattern LABEL = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
  private static final Pattern REPEAT = Pattern.compile("\\{(?:[0-9]*,)?([0-9]+),?}");

  private static final Set<String> KNOWN =
      Set.of("match", "match_type", "match_metric_type", "name", "labels", "action", "scale");
  private static final Set<String> KNOWN_DEFAULTS = Set.of("match_type");
  private static final Set<String> KNOWN_OPTIONS = Set.of("buckets", "quantiles");

  private final List<String> warnings = new ArrayList<>();
  private final Set<String> unused = new TreeSet<>();
  private final List<Mapping> mappings = new ArrayList<>();
  private int program;
  private int leftOut;

  /**
   * A file that was read.
   *
   * @param warnings mistakes, and fields without an effect here
   */
  record Read(StatsdMapping mapping, List<String> warnings) {}

  private MappingFile() {}

  /**
   * Reads the text of a file.
   *
   * @throws MappingSyntaxException if it is not YAML, or has no list of mappings
   */
  static Read read(String yaml) throws MappingSyntaxException {
    MappingFile file = new MappingFile();
    file.readAll(Fields.of(YamlTree.parse(yaml), "it"));
    return new Read(new StatsdMapping(file.mappings), file.allWarnings());
  }

  private List<String> allWarnings() {
    if (leftOut > 0) {
      warnings.add(leftOut + " further mappings are left out");
    }
    if (!unused.isEmpty()) {
      List<String> shown = unused.stream().limit(MAX_WARNINGS).map(Fields::shown).toList();
      warnings.add("fields without effect here: " + String.join(", ", shown));
    }
    return List.copyOf(warnings);
  }

  private void readAll(Fields root) throws MappingSyntaxException {
    if (!(root.get("mappings") instanceof List<?> list)) {
      throw new MappingSyntaxException("it has to have a list named mappings");
    }
    Fields defaults = Fields.of(root.get("defaults"), "defaults");
    note(defaults, KNOWN_DEFAULTS);
    TimerFields timers = TimerFields.of(defaults);
    String matchType = defaults.word("match_type", List.of("glob", "regex"));
    for (int i = 0; i < list.size(); i++) {
      Object node = list.get(i);
      try {
        if (i >= MAX_MAPPINGS) {
          throw new MappingSyntaxException("there are more than " + MAX_MAPPINGS);
        }
        mappings.add(mapping(Fields.of(node, "a mapping"), timers, matchType));
      } catch (MappingSyntaxException e) {
        Object match = node instanceof Map<?, ?> map ? map.get("match") : null;
        leaveOut("mapping %d, %s: %s".formatted(i + 1, Fields.shown(match), e.getMessage()));
      }
    }
  }

  private void leaveOut(String why) {
    if (warnings.size() < MAX_WARNINGS) {
      warnings.add("left out: " + why);
    } else {
      leftOut++;
    }
  }

  private Mapping mapping(Fields fields, TimerFields timers, String matchType)
      throws MappingSyntaxException {
    note(fields, KNOWN);
    boolean glob =
        fields.has("match_type")
            ? fields.word("match_type", List.of("glob", "regex")).equals("glob")
            : matchType.equals("glob");
    boolean drop = fields.word("action", List.of("map", "drop")).equals("drop");
    String name = fields.text("name", "");
    if (!NAME.matches(name) && !(drop && name.isEmpty())) {
      throw new MappingSyntaxException("name " + Fields.shown(name) + " is no name of a metric");
    }
    double scale = fields.number("scale", 1);
    if (scale < 0) { // a counter below 0 would break the scrape
      throw new MappingSyntaxException("scale has to be at least 0");
    }
    String match = fields.text("match", "");
    return new Mapping(
        glob ? glob(match) : regex(match),
        kind(fields),
        drop,
        name,
        labels(fields),
        scale,
        TimerFields.of(fields).shape(timers));
  }

  private static NameMatcher glob(String match) throws MappingSyntaxException {
    if (match.length() > MAX_PATTERN || !GLOB.matches(match)) {
      throw new MappingSyntaxException("match has to be parts or *, with dots between them");
    }
    return NameMatcher.Glob.of(match);
  }

  private NameMatcher regex(String match) throws MappingSyntaxException {
    if (match.isEmpty() || match.length() > MAX_PATTERN) {
      throw new MappingSyntaxException("match has to have 1 to " + MAX_PATTERN + " characters");
    }
    if (repeats(match) > MAX_REPEATS) { // compiling it would need much memory
      throw new MappingSyntaxException("match repeats a part more than " + MAX_REPEATS + " times");
    }
    Pattern pattern;
    try {
      pattern = Pattern.compile(match);
    } catch (PatternSyntaxException e) {
      throw new MappingSyntaxException("match: " + e.getDescription());
    }
    if (program + pattern.programSize() > MAX_PROGRAM) {
      throw new MappingSyntaxException("the regular expressions are too long together");
    }
    program += pattern.programSize();
    return new NameMatcher.Regex(pattern);
  }

  /** Returns how often a part may be repeated at most, as if all repetitions were nested. */
  private static double repeats(String regex) {
    double product = 1;
    Matcher counts = REPEAT.matcher(regex);
    while (counts.find()) {
      product *= Math.max(1, Double.parseDouble(counts.group(1)));
    }
    return product;
  }

  private static @Nullable StatisticKind kind(Fields fields) throws MappingSyntaxException {
    return switch (fields.word(
        "match_metric_type", List.of("", "counter", "gauge", "observer", "timer"))) {
      case "" -> null;
      case "counter" -> StatisticKind.COUNTER;
      case "gauge" -> StatisticKind.GAUGE;
      default -> StatisticKind.OBSERVER;
    };
  }

  private static Map<String, String> labels(Fields fields) throws MappingSyntaxException {
    Map<String, String> labels = new TreeMap<>();
    for (Map.Entry<?, ?> label : Fields.of(fields.get("labels"), "labels").map().entrySet()) {
      String name = String.valueOf(label.getKey());
      if (!LABEL.matches(name) || name.startsWith("__")) {
        throw new MappingSyntaxException(Fields.shown(name) + " is no name of a label");
      }
      if (!(label.getValue() instanceof String template)) {
        throw new MappingSyntaxException("label " + name + " has to be a text");
      }
      labels.put(name, template);
    }
    if (labels.size() > MAX_LABELS) {
      throw new MappingSyntaxException("there are more than " + MAX_LABELS + " labels");
    }
    return Map.copyOf(labels);
  }

  /** Notes the fields that have no effect here. */
  private void note(Fields fields, Set<String> known) throws MappingSyntaxException {
    for (Object name : fields.map().keySet()) {
      String text = String.valueOf(name);
      if (!known.contains(text) && !TimerFields.NAMES.contains(text)) {
        unused.add(text);
      }
    }
    for (String options : List.of("histogram_options", "summary_options")) {
      for (Object name : Fields.of(fields.get(options), options).map().keySet()) {
        if (!KNOWN_OPTIONS.contains(String.valueOf(name))) {
          unused.add(options + "." + name);
        }
      }
    }
  }
}
