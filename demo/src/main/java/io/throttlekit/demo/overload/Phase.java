package io.throttlekit.demo.overload;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A load and the capacity of the upstream during it.
 *
 * @param name in {@code --phase}
 * @param load offered load as a multiple of the capacity of all workers
 * @param capacity share of the workers that are active
 * @param afresh whether the upstream first discards requests whose client has left, so that the
 *     previous phase does not decide this one
 */
record Phase(String name, double load, double capacity, boolean afresh) {

  /** All phases in their order. */
  static final List<Phase> ALL =
      List.of(
          new Phase("0.8", 0.8, 1, true),
          new Phase("1", 1, 1, true),
          new Phase("1.05", 1.05, 1, true),
          new Phase("1.2", 1.2, 1, true),
          new Phase("2", 2, 1, true),
          new Phase("5", 5, 1, true),
          new Phase("halved", 1.2, 0.5, true),
          new Phase("restored", 1.2, 1, false));

  /**
   * Parses a list of names. Returns the phases in their order.
   *
   * @param names separated by commas; numbers may be written in any form
   * @throws IllegalArgumentException with a message for users, if a name is unknown
   */
  static List<Phase> named(String names) {
    List<Phase> chosen = new ArrayList<>();
    for (String name : names.split(",", -1)) {
      chosen.add(one(name.strip()));
    }
    return ALL.stream().filter(chosen::contains).toList();
  }

  /** Returns a description for readers. */
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
