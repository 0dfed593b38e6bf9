package io.throttlekit.deploy;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The metrics of PromQL expressions, with the labels by which an expression selects series. */
final class PromQuery {
  private static final Pattern TEXT = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"");
  private static final Pattern GROUPING =
      Pattern.compile("\\b(?:by|without|on|ignoring|group_left|group_right)\\s*\\([^)]*\\)");
  private static final Pattern RANGE = Pattern.compile("\\[[^]]*]");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{?\\w+}?");
  private static final Pattern SELECTOR =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)\\s*(?:(\\()|\\{([^}]*)})?");
  private static final Pattern LABEL = Pattern.compile("([a-zA-Z_]\\w*)\\s*(?:=~|!~|!=|=)");
  private static final Set<String> OPERATORS =
      Set.of(
          "and",
          "or",
          "unless",
          "bool",
          "offset",
          "sum",
          "min",
          "max",
          "avg",
          "count",
          "topk",
          "bottomk",
          "quantile",
          "stddev",
          "group",
          "inf",
          "nan");

  private PromQuery() {}

  /** Returns the labels of the selectors by the metrics that they select. */
  static Map<String, Set<String>> labelsByMetric(String expression) {
    String plain = TEXT.matcher(expression).replaceAll("0");
    for (Pattern none : new Pattern[] {GROUPING, RANGE, VARIABLE}) {
      plain = none.matcher(plain).replaceAll(" ");
    }
    plain = plain.replaceAll("\\b\\d+(?:\\.\\d+)?(?:[smhdwy]|ms)?\\b", "0");
    Map<String, Set<String>> found = new HashMap<>();
    Matcher selector = SELECTOR.matcher(plain);
    while (selector.find()) {
      boolean function = selector.group(2) != null;
      if (!function && !OPERATORS.contains(selector.group(1))) {
        Set<String> labels = found.computeIfAbsent(selector.group(1), _ -> new TreeSet<>());
        if (selector.group(3) != null) {
          LABEL.matcher(selector.group(3)).results().forEach(label -> labels.add(label.group(1)));
        }
      }
    }
    return found;
  }
}
