package io.throttlekit.spec;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Configuration of TLC for a module: the file beside it, with single lines changed.
 *
 * @param module its name
 * @param text in TLC's own format
 */
record Configuration(String module, String text) {

  /** The configuration as it is committed. */
  static Configuration of(String module) {
    try {
      return new Configuration(module, Files.readString(Tlc.MODULES.resolve(module + ".cfg")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A set of {@code count} nodes. */
  static String nodes(int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(node -> "n" + node)
        .collect(Collectors.joining(", ", "{", "}"));
  }

  /**
   * The same with another value of a constant.
   *
   * @throws IllegalArgumentException when there is no such constant
   */
  Configuration with(String constant, Object value) {
    return changed("  " + constant + " = .*", "  " + constant + " = " + value);
  }

  /** The same of another behaviour. */
  Configuration specification(String name) {
    return changed("SPECIFICATION .*", "SPECIFICATION " + name);
  }

  /** The same with these invariants alone, separated by blanks. */
  Configuration invariants(String names) {
    return changed("(INVARIANTS|PROPERTIES) .*", "INVARIANTS " + names);
  }

  /** The same with one property of steps alone, in place of invariants. */
  Configuration property(String name) {
    return changed("(INVARIANTS|PROPERTIES) .*", "PROPERTIES " + name);
  }

  /** The same with properties of steps in addition, separated by blanks. */
  Configuration andProperties(String names) {
    return new Configuration(module, text + "PROPERTIES " + names + "\n");
  }

  /** The same without these safeguards, separated by commas. */
  Configuration without(String safeguards) {
    return with("Removed", "{\"" + safeguards.replace(", ", "\", \"") + "\"}");
  }

  private Configuration changed(String line, String replacement) {
    Matcher found = Pattern.compile("(?m)^" + line + "$").matcher(text);
    if (!found.find()) {
      throw new IllegalArgumentException(module + ".cfg has no line " + line);
    }
    return new Configuration(module, found.replaceFirst(Matcher.quoteReplacement(replacement)));
  }
}
