package io.throttlekit.service.xds;

import io.throttlekit.descriptors.source.SourceLocation;
import io.throttlekit.service.log.PrintableText;
import java.util.List;

/** Places in the configurations of a control plane, as problems name them. */
final class Place {
  private static final int MAX_NAME = 120; // characters of a domain, a key or a value
  private static final int MAX_PATH = 500; // characters of a path, from its end

  private Place() {}

  /** Returns the place of a domain. */
  static SourceLocation of(String domain) {
    return new SourceLocation("xds " + shown(domain), 0, 0);
  }

  /**
   * Returns the place of a descriptor: {@code xds DOMAIN: KEY=VALUE > KEY}. A value that repeats
   * its key, as those of Envoy Gateway do, is left out.
   *
   * @param entries key, value, key, value … of the descriptors that lead to it, with its own
   * @param number of the descriptor, which distinguishes it from others of the same text
   */
  static SourceLocation of(String domain, List<String> entries, int number) {
    StringBuilder path = new StringBuilder();
    for (int i = 0; i + 1 < entries.size(); i += 2) {
      String key = entries.get(i);
      String value = entries.get(i + 1);
      path.append(i == 0 ? "" : " > ").append(shown(key));
      if (!value.isEmpty() && !value.equals(key)) {
        path.append('=').append(shown(value));
      }
    }
    int excess = path.length() - MAX_PATH;
    if (excess > 0) {
      path.replace(0, excess, "…");
    }
    return new SourceLocation("xds " + shown(domain) + ": " + path, 0, number);
  }

  /** Returns a name without control characters, truncated. */
  static String shown(String name) {
    String whole = PrintableText.of(name);
    return whole.length() <= MAX_NAME ? whole : whole.substring(0, MAX_NAME) + "…";
  }
}
