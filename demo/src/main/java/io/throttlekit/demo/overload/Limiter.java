package io.throttlekit.demo.overload;

import io.throttlekit.demo.DemoFiles;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What limits how much is in flight from an Envoy to its upstream. */
enum Limiter {
  /** Nothing does. */
  NONE("", ""),

  /** Envoy's own adaptive_concurrency filter. */
  ENVOY("/stats?filter=gradient_controller.concurrency_limit", "concurrency_limit: (\\d+)"),

  /** The service: by what the access log tells, with {@code max_requests} pushed over RTDS. */
  OURS(
      "/runtime",
      "\"circuit_breakers\\.upstream\\.default\\.max_requests\":\\s*\\{[^}]*\"final_value\":\\s*\"(\\d+)\"");

  /** The ceiling that neither of the two goes beyond, and that ours begins with. */
  static final int HIGHEST = 100;

  private final String where;
  private final Pattern value;

  /**
   * @param where the ceiling can be seen, on the admin interface; empty when there is none
   * @param value what it looks like there
   */
  Limiter(String where, String value) {
    this.where = where;
    this.value = Pattern.compile(value);
  }

  /**
   * Some of them.
   *
   * @param names separated by commas
   * @throws IllegalArgumentException in words for people, when there is none of that name
   */
  static Set<Limiter> named(String names) {
    Set<Limiter> chosen = EnumSet.noneOf(Limiter.class);
    for (String name : names.split(",", -1)) {
      chosen.add(one(name.strip()));
    }
    return chosen;
  }

  private static Limiter one(String name) {
    return Arrays.stream(values())
        .filter(limiter -> limiter.word().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "there is no arm '%s', but %s"
                    .formatted(
                        name,
                        Arrays.stream(values())
                            .map(Limiter::word)
                            .collect(Collectors.joining(", ")))));
  }

  /** As {@code --arms} and the JSON call it. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The bootstrap of its Envoy; {@code service} is read only by ours. */
  String bootstrap(int upstream, int service) throws IOException {
    return DemoFiles.text("overload/" + word() + ".yaml")
        .replace("@UPSTREAM@", Integer.toString(upstream))
        .replace("@SERVICE@", Integer.toString(service))
        .replace("@HIGHEST@", Integer.toString(HIGHEST));
  }

  /** The ceiling that is in force in its Envoy; empty where nothing limits. */
  OptionalInt ceiling(EnvoyProcess envoy) throws IOException {
    return where.isEmpty() ? OptionalInt.empty() : OptionalInt.of(read(envoy.admin(where)));
  }

  /** The ceiling on a page of the admin interface; while none is there, the highest. */
  int read(String page) {
    Matcher seen = value.matcher(page);
    return seen.find() ? Integer.parseInt(seen.group(1)) : HIGHEST;
  }
}
