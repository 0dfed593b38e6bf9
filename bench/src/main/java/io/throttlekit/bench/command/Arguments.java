package io.throttlekit.bench.command;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Command line of {@code --name value} pairs and other words.
 *
 * <p>Every error in it is an {@link IllegalArgumentException} with a one-line message.
 */
public record Arguments(List<String> words, Map<String, String> options) {

  /** Copies both. */
  public Arguments {
    words = List.copyOf(words);
    options = Map.copyOf(options);
  }

  /**
   * Parses a command line.
   *
   * @param known names of the options, without dashes
   * @throws IllegalArgumentException if an option is unknown or has no value
   */
  static Arguments parse(Set<String> known, String... args) {
    return parse(known, Set.of(), args);
  }

  /**
   * Does the same, with options that have no value.
   *
   * @param flags their names, without dashes
   */
  static Arguments parse(Set<String> valued, Set<String> flags, String... args) {
    Set<String> known = new TreeSet<>(valued);
    known.addAll(flags);
    List<String> words = new ArrayList<>();
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i < args.length; i++) {
      String name = args[i].replaceFirst("^--", "");
      if (!args[i].startsWith("-")) {
        words.add(args[i]);
      } else if (args[i].startsWith("--") && flags.contains(name)) {
        options.put(name, "");
      } else if (!args[i].startsWith("--") || !known.contains(name)) {
        throw new IllegalArgumentException(
            "no option " + args[i] + (known.isEmpty() ? "; there are none" : knownOptions(known)));
      } else if (++i < args.length) {
        options.put(name, args[i]);
      } else {
        throw new IllegalArgumentException("--" + name + " needs a value");
      }
    }
    return new Arguments(words, options);
  }

  /**
   * Returns the only operand besides options.
   *
   * @param what its description
   */
  public String only(String what) {
    if (words.size() != 1) {
      throw new IllegalArgumentException("expected one " + what + ", got " + shown());
    }
    return words.getFirst();
  }

  /** Throws if there are operands besides options. */
  public void noWords() {
    if (!words.isEmpty()) {
      throw new IllegalArgumentException("expected nothing but options, got " + shown());
    }
  }

  /** Returns whether an option without a value is given. */
  public boolean flag(String name) {
    return options.containsKey(name);
  }

  public String text(String name, String otherwise) {
    return options.getOrDefault(name, otherwise);
  }

  /**
   * Returns a regular expression, or {@code otherwise} when the option is not given.
   *
   * @throws IllegalArgumentException if it is not one
   */
  public Pattern pattern(String name, Pattern otherwise) {
    String value = options.get(name);
    try {
      return value == null ? otherwise : Pattern.compile(value);
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "--" + name + " is a regular expression, not " + value + ": " + e.getDescription());
    }
  }

  /**
   * Returns a whole number, or {@code otherwise} when the option is not given.
   *
   * @param least smallest valid number
   */
  public long number(String name, long least, long otherwise) {
    return number(name, least, Long.MAX_VALUE, otherwise);
  }

  /** Does the same for an {@code int}. */
  public int integer(String name, int least, int otherwise) {
    return (int) number(name, least, Integer.MAX_VALUE, otherwise);
  }

  /** Returns a number of seconds, up to the hour that a load may last. */
  public Duration seconds(String name, long least, long otherwise) {
    return Duration.ofSeconds(number(name, least, Bounds.MAX_TIME.toSeconds(), otherwise));
  }

  private long number(String name, long least, long most, long otherwise) {
    String value = options.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below, with numbers out of range
    }
    String range = most == Long.MAX_VALUE ? "from " + least : "from " + least + " to " + most;
    throw new IllegalArgumentException("--" + name + " is a number " + range + ", not " + value);
  }

  private static String knownOptions(Set<String> known) {
    return "; there are --" + String.join(", --", new TreeSet<>(known));
  }

  private String shown() {
    return words.isEmpty() ? "none" : String.join(" ", words);
  }
}
