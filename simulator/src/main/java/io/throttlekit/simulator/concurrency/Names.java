package io.throttlekit.simulator.concurrency;

import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;

/** The choice of rows and columns by their names. */
public final class Names {
  /** Found in every name. */
  public static final Pattern ANY = Pattern.compile("");

  private Names() {}

  /**
   * Returns the items in whose names a pattern is found, in their order.
   *
   * @throws IllegalStateException if there is none
   */
  public static <T> List<T> matching(List<T> all, Function<T, String> name, Pattern pattern) {
    List<T> found = all.stream().filter(one -> pattern.matcher(name.apply(one)).find()).toList();
    if (found.isEmpty()) {
      throw new IllegalStateException(
          "no name matches " + pattern + ": " + String.join(", ", all.stream().map(name).toList()));
    }
    return found;
  }
}
