package io.throttlekit.demo.overload;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A load, and what the upstream can do meanwhile.
 *
 * @param name as {@code --phase} calls it
 * @param load what is offered, in capacities of all workers
 * @param capacity the share of the workers that are there
 * @param afresh whether the upstream forgets, before it, what nobody waits for any more: so that a
 *     phase is not lost already because of the one before
 */
record Phase(String name, double load, double capacity, boolean afresh) {

  /** All that there are, in their order. */
  static final List<Phase> ALL =
      List.of(
          new Phase("0.8", 0.8, 1, true),
          new Phase("1.2", 1.2, 1, true),
          new Phase("2", 2, 1, true),
          new Phase("5", 5, 1, true),
          new Phase("halved", 1.2, 0.5, true),
          new Phase("restored", 1.2, 1, false));

  /**
   * Some of them, in their order.
   *
   * @param names separated by commas; a number may be written as any
   * @throws IllegalArgumentException in words for people, when there is none of that name
   */
  static List<Phase> named(String names) {
    List<Phase> chosen = new ArrayList<>();
    for (String name : names.split(",", -1)) {
      chosen.add(one(name.strip()));
    }
    return ALL.stream().filter(chosen::contains).toList();
  }

  /** For people. */
  String words() {
    return trimmed(load)
        + " times the capacity"
        + (capacity < 1 ? ", of which only %s is there".formatted(trimmed(capacity)) : "");
  }

  private static Phase one(String name) {
    return ALL.stream()
        .filter(phase -> phase.name.equals(name) || isNumber(name, phase.name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "there is no phase '%s', but %s"
                    .formatted(
                        name, ALL.stream().map(Phase::name).collect(Collectors.joining(", ")))));
  }

  private static boolean isNumber(String name, String other) {
    String number = "\\d{1,3}(\\.\\d{1,3})?";
    return name.matches(number)
        && other.matches(number)
        && Double.parseDouble(name) == Double.parseDouble(other);
  }

  private static String trimmed(double number) {
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }
}
