package io.throttlekit.service.telemetry.mapping;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The mappings of a file, which give statistics with names for statsd the names and labels that the
 * Prometheus statsd exporter gives them.
 *
 * <p>As there, globs come before regular expressions, each in the order of the file, and a
 * statistic that no mapping selects keeps its name, with underscores. Results are kept for the
 * names that were mapped last. Thread-safe.
 */
final class StatsdMapping {
  /** Bounds the memory for results: as many as statistics with the default of series, twice. */
  private static final int MAX_RESULTS = 50_000;

  private final List<Mapping> mappings;
  private final Map<Key, Result> results = new ConcurrentHashMap<>();

  private record Key(StatisticKind kind, String name) {}

  /**
   * What a statistic becomes.
   *
   * @param mapping null where none selects it
   */
  record Result(String name, Labels labels, @Nullable Mapping mapping) {

    boolean dropped() {
      return mapping != null && mapping.drop();
    }

    double scale() {
      return mapping == null ? 1 : mapping.scale();
    }
  }

  /** Creates mappings in the order of their file. */
  StatsdMapping(List<Mapping> mappings) {
    List<Mapping> ordered = new ArrayList<>();
    mappings.stream().filter(m -> m.matcher() instanceof NameMatcher.Glob).forEach(ordered::add);
    mappings.stream().filter(m -> m.matcher() instanceof NameMatcher.Regex).forEach(ordered::add);
    this.mappings = List.copyOf(ordered);
  }

  /** Returns what the statistic with this name becomes. */
  Result map(StatisticKind kind, String name) {
    Key key = new Key(kind, name);
    Result known = results.get(key);
    if (known != null) {
      return known;
    }
    Result result = mapped(kind, name);
    if (results.size() >= MAX_RESULTS) {
      results.clear();
    }
    results.put(key, result);
    return result;
  }

  private Result mapped(StatisticKind kind, String name) {
    for (Mapping mapping : mappings) {
      if (mapping.only() != null && mapping.only() != kind) {
        continue;
      }
      NameMatcher.Match match = mapping.matcher().match(name);
      if (match != null) {
        Map<String, String> labels = new TreeMap<>();
        mapping.labels().forEach((label, template) -> labels.put(label, match.expand(template)));
        return new Result(
            metricName(match.expand(mapping.name())),
            Labels.of(
                labels.keySet().toArray(String[]::new), labels.values().toArray(String[]::new)),
            mapping);
      }
    }
    return new Result(metricName(name), Labels.EMPTY, null);
  }

  /**
   * Returns a valid name of a metric: other characters become underscores, several hyphens in a row
   * a single one.
   */
  static String metricName(String text) {
    StringBuilder name = new StringBuilder();
    if (text.isEmpty() || Character.isDigit(text.charAt(0))) {
      name.append('_');
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean valid =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      if (valid) {
        name.append(c);
      } else if (c != '-' || i == 0 || text.charAt(i - 1) != '-') {
        name.append('_');
      }
    }
    return name.toString();
  }
}
