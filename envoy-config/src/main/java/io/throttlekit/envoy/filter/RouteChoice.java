package io.throttlekit.envoy.filter;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Values of entries that a route has to choose, because a policy has fixed values only, and several
 * of them.
 */
record RouteChoice(List<Choice> choices) {
  /** No choice: what applies to every request. */
  static final RouteChoice NONE = new RouteChoice(List.of());

  /** Fixed value of an entry. */
  record Choice(String key, String value) {}

  RouteChoice {
    choices = List.copyOf(choices);
  }

  RouteChoice and(String key, String value) {
    return new RouteChoice(
        Stream.concat(choices.stream(), Stream.of(new Choice(key, value))).toList());
  }

  /** Returns the values for people: {@code "route" = "login"}. */
  @Override
  public String toString() {
    return choices.stream()
        .map(choice -> FilledEntry.text(choice.key(), choice.value()))
        .collect(Collectors.joining(", "));
  }
}
