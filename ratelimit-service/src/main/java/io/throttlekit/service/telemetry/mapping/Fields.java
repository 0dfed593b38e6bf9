package io.throttlekit.service.telemetry.mapping;

import io.throttlekit.service.log.PrintableText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a map in a mapping file.
 *
 * @param map values by names
 */
record Fields(Map<?, ?> map) {
  private static final int MAX_SHOWN = 80;

  /**
   * Returns the fields of a node; none of an absent one.
   *
   * @throws MappingSyntaxException if it is something else than a map
   */
  static Fields of(@Nullable Object node, String what) throws MappingSyntaxException {
    if (node == null || node.equals("") || node.equals("null")) {
      return new Fields(Map.of());
    }
    if (node instanceof Map<?, ?> map) {
      return new Fields(map);
    }
    throw new MappingSyntaxException(what + " has to be a map");
  }

  boolean has(String name) {
    return map.containsKey(name);
  }

  @Nullable Object get(String name) {
    return map.get(name);
  }

  /** Returns a text; {@code otherwise} if the field is absent. */
  String text(String name, String otherwise) throws MappingSyntaxException {
    Object value = map.get(name);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof String text) {
      return text;
    }
    throw new MappingSyntaxException(name + " has to be a text");
  }

  /** Returns one of these words; the first of them if the field is absent. */
  String word(String name, List<String> words) throws MappingSyntaxException {
    String text = text(name, words.getFirst());
    if (words.contains(text)) {
      return text;
    }
    throw new MappingSyntaxException(
        "%s %s is not one of %s".formatted(name, shown(text), String.join(", ", words)));
  }

  /** Returns a finite number; {@code otherwise} if the field is absent. */
  double number(String name, double otherwise) throws MappingSyntaxException {
    return has(name) ? number(map.get(name), name) : otherwise;
  }

  /** Returns the numbers of a list; null if the field is absent. */
  @Nullable List<Double> numbers(String name) throws MappingSyntaxException {
    Object value = map.get(name);
    if (value == null) {
      return null;
    }
    if (!(value instanceof List<?> list)) {
      throw new MappingSyntaxException(name + " has to be a list");
    }
    List<Double> numbers = new ArrayList<>();
    for (Object number : list) {
      numbers.add(number(number, name));
    }
    return numbers;
  }

  private static double number(@Nullable Object value, String name) throws MappingSyntaxException {
    if (value instanceof String text && text.length() <= 40) {
      try {
        double number = Double.parseDouble(text);
        if (Double.isFinite(number)) {
          return number;
        }
      } catch (NumberFormatException _) {
        // reported below
      }
    }
    throw new MappingSyntaxException(name + ": " + shown(value) + " is not a number");
  }

  /** Returns a text of a file in one bounded line. */
  static String shown(@Nullable Object value) {
    String text = String.valueOf(value);
    String start = text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "…";
    return '"' + PrintableText.of(start) + '"';
  }
}
