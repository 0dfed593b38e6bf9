package io.throttlekit.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A command line of {@code --name value} pairs and other words. */
record Arguments(List<String> words, Map<String, String> options) {

  /** Copies both. */
  Arguments {
    words = List.copyOf(words);
    options = Map.copyOf(options);
  }

  /**
   * @throws IllegalArgumentException when an option has no value
   */
  static Arguments parse(String... args) {
    List<String> words = new ArrayList<>();
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i < args.length; i++) {
      if (!args[i].startsWith("--")) {
        words.add(args[i]);
      } else if (i + 1 < args.length) {
        options.put(args[i].substring(2), args[++i]);
      } else {
        throw new IllegalArgumentException(args[i] + " needs a value");
      }
    }
    return new Arguments(words, options);
  }

  /** The only word. */
  String subject() {
    if (words.size() != 1) {
      throw new IllegalArgumentException("expected one argument besides options, was " + words);
    }
    return words.getFirst();
  }

  String text(String name, String otherwise) {
    return options.getOrDefault(name, otherwise);
  }

  long number(String name, long otherwise) {
    String value = options.get(name);
    return value == null ? otherwise : Long.parseLong(value);
  }

  int integer(String name, int otherwise) {
    return Math.toIntExact(number(name, otherwise));
  }

  Duration seconds(String name, long otherwise) {
    return Duration.ofSeconds(number(name, otherwise));
  }
}
