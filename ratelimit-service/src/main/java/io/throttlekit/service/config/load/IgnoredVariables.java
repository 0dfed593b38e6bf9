package io.throttlekit.service.config.load;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds variables of envoyproxy/ratelimit that have no effect here. */
final class IgnoredVariables {
  private IgnoredVariables() {}

  /**
   * Returns one line that lists the variables by reason, or an empty text.
   *
   * @param inMemory whether counters are in the memory of this process
   */
  static String warning(Map<String, String> environment, boolean inMemory) {
    List<Map.Entry<String, List<String>>> reasons =
        Stream.of(inMemory ? "without_store" : "with_store", "always")
            .flatMap(when -> Settings.ignored(when).entrySet().stream())
            .toList();
    Map<String, TreeSet<String>> byReason = new TreeMap<>();
    environment.forEach((name, value) -> {
      if (!Settings.switches().contains(name) || !Boolean.FALSE.equals(Form.parseFlag(value))) {
        reasons.stream()
            .filter(reason -> covers(reason.getValue(), name))
            .findFirst()
            .ifPresent(reason ->
                byReason.computeIfAbsent(reason.getKey(), _ -> new TreeSet<>()).add(name));
      }
    });
    return byReason.isEmpty()
        ? ""
        : byReason.entrySet().stream()
            .map(entry -> String.join(", ", entry.getValue()) + " (" + entry.getKey() + ")")
            .collect(Collectors.joining("; ", "set but without effect here: ", ""));
  }

  /** Returns whether a name is one of {@code names}, or begins with one that is a prefix. */
  private static boolean covers(List<String> names, String variable) {
    return names.stream()
        .anyMatch(name -> name.endsWith("_") ? variable.startsWith(name) : variable.equals(name));
  }
}
