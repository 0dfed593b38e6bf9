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

/** The limiter of the requests in flight from an Envoy to its upstream. */
enum Limiter {
  /** No limiter. */
  NONE("", ""),

  /** Envoy's own adaptive_concurrency filter. */
  ENVOY("/stats?filter=gradient_controller.concurrency_limit", "concurrency_limit: (\\d+)"),

  /** The service, fed by the access log; it sets {@code max_requests} over RTDS. */
  OURS(
      "/runtime",
      "\"circuit_breakers\\.upstream\\.default\\.max_requests\":\\s*\\{[^}]*\"final_value\":\\s*\"(\\d+)\"");

  /** The highest limit of both algorithms, and the initial limit of ours. */
  static final int HIGHEST = 100;

  private final String where;
  private final Pattern value;

  /**
   * @param where path of the limit on the admin interface; empty if there is none
   * @param value pattern of the limit on that page
   */
  Limiter(String where, String value) {
    this.where = where;
    this.value = Pattern.compile(value);
  }

  /**
   * Parses a list of names.
   *
   * @param names separated by commas
   * @throws IllegalArgumentException with a message for users, if a name is unknown
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

  /** Returns the name in {@code --arms} and in JSON. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the bootstrap of its Envoy; {@code service} is used only by ours. */
  String bootstrap(int upstream, int service) throws IOException {
    return DemoFiles.text("overload/" + word() + ".yaml")
        .replace("@UPSTREAM@", Integer.toString(upstream))
        .replace("@SERVICE@", Integer.toString(service))
        .replace("@HIGHEST@", Integer.toString(HIGHEST));
  }

  /** Returns the limit in effect in its Envoy; empty without a limiter. */
  OptionalInt limit(EnvoyProcess envoy) throws IOException {
    return where.isEmpty() ? OptionalInt.empty() : OptionalInt.of(read(envoy.admin(where)));
  }

  /** Returns the limit on a page of the admin interface; the highest while there is none. */
  int read(String page) {
    Matcher seen = value.matcher(page);
    return seen.find() ? Integer.parseInt(seen.group(1)) : HIGHEST;
  }
}
