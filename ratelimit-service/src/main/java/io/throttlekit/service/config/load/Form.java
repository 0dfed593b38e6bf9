package io.throttlekit.service.config.load;

import io.throttlekit.envoy.HostPort;
import io.throttlekit.service.identity.Identity;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Syntax of values.
 *
 * @param expected description of valid values, to complete "is not …"
 * @param words valid words, for spelling hints; empty when any text may be valid
 * @param list whether several texts make one value
 * @param parser returns the value of a text
 * @param mask hides secrets in a text that is shown
 */
record Form(
    String expected, List<String> words, boolean list, Parser parser, UnaryOperator<String> mask) {

  // The words that Go's strconv.ParseBool accepts, as envoyproxy/ratelimit does.
  private static final Set<String> TRUE = Set.of("1", "t", "T", "TRUE", "true", "True");
  private static final Set<String> FALSE = Set.of("0", "f", "F", "FALSE", "false", "False");
  // Lengths are bounded, so that a hostile value cannot take long to check or fill the log.
  private static final Pattern WHOLE_NUMBER = Pattern.compile("[+-]?[0-9]{1,19}");
  private static final Pattern DECIMAL =
      Pattern.compile("(?=.{1,64}$)[+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)");

  /** The host of an address that names none. */
  private static final String EVERY_ADDRESS = "0.0.0.0";

  /** Syntax of a value that is one text. */
  @FunctionalInterface
  interface Parser {

    /**
     * Returns the value, or null when the text is not what is expected.
     *
     * @throws InvalidTextException with the reason, where there is more to say
     */
    @Nullable Object parse(String text) throws InvalidTextException;
  }

  /**
   * Returns the form that {@code service-settings.yaml} declares.
   *
   * @param attributes all attributes, by name
   * @param words the attribute of this name
   * @param synonyms the attribute of this name
   */
  static Form declared(
      Map<String, Object> attributes, List<String> words, Map<String, Object> synonyms) {
    String kind = text(attributes, "kind");
    Parser parser = parser(kind, attributes, words, synonyms);
    boolean optional = text(attributes, "optional").equals("true");
    return new Form(
        switch (kind) {
          case "store" -> StoreUri.EXPECTED;
          case "descriptors" -> RequestDescriptors.EXPECTED;
          default ->
              text(attributes, "expected")
                  .replace("{min}", text(attributes, "min"))
                  .replace("{max}", text(attributes, "max"))
                  .replace("{words}", String.join(", ", words));
        },
        words,
        text(attributes, "list").equals("true"),
        optional ? text -> text.isEmpty() ? text : parser.parse(text) : parser,
        switch (kind) {
          case "store" -> Secrets::maskStore;
          case "secret" -> Secrets::hide;
          default -> Secrets::mask;
        });
  }

  private static Parser parser(
      String kind,
      Map<String, Object> attributes,
      List<String> words,
      Map<String, Object> synonyms) {
    String min = text(attributes, "min");
    String max = text(attributes, "max");
    return switch (kind) {
      case "flag" -> Form::parseFlag;
      case "number" -> {
        long from = Long.parseLong(min);
        long to = Long.parseLong(max);
        yield text -> parseLong(text, from, to);
      }
      case "ratio" -> {
        double to = Double.parseDouble(max);
        yield text -> parseRatio(text, to);
      }
      case "duration" -> {
        Duration from = GoDuration.parse(min);
        Duration to = GoDuration.parse(max);
        yield text -> within(GoDuration.parse(text), from, to);
      }
      case "word" -> text -> parseWord(text, words, synonyms);
      case "pattern" -> {
        Pattern pattern = Pattern.compile(text(attributes, "pattern"));
        yield text -> pattern.matcher(text).matches() ? text : null;
      }
      case "host" -> HostPort::host;
      case "address" -> text -> HostText.address(text, 0);
      case "target" -> text -> HostText.target(text, 1);
      case "path" -> text -> parsePath(text) == null ? null : text;
      case "paths" -> text -> text.isEmpty() ? null : parsePath(text);
      case "identities" -> text -> Identity.parse(text.strip());
      case "secret" -> Form::parseSecret;
      case "store" -> StoreUri::parse;
      case "descriptors" -> RequestDescriptors::parse;
      case "rewrites" -> StatsdRewrites::parse;
      default -> throw new IllegalArgumentException("there is no form " + kind);
    };
  }

  private static String text(Map<String, Object> attributes, String name) {
    return attributes.getOrDefault(name, "").toString();
  }

  /**
   * Returns the value, or null when the texts are not what is expected.
   *
   * @throws InvalidTextException with the reason, where there is more to say
   */
  @Nullable Object parse(List<String> texts) throws InvalidTextException {
    if (!list) {
      return texts.size() == 1 ? parser.parse(texts.getFirst()) : null;
    }
    List<Object> values = new ArrayList<>();
    for (String text : texts) {
      Object value = parser.parse(text);
      if (value == null) {
        return null;
      }
      values.add(value);
    }
    return values;
  }

  /**
   * Returns a value that {@code service-settings.yaml} declares.
   *
   * @throws IllegalArgumentException if the texts are not valid, which is a bug
   */
  Object parseDeclared(List<String> texts) {
    if (texts.isEmpty()) {
      return List.of(); // no parser is needed for it, and that of descriptors starts slowly
    }
    try {
      Object value = parse(texts);
      if (value != null) {
        return value;
      }
    } catch (InvalidTextException e) {
      throw new IllegalArgumentException(e);
    }
    throw new IllegalArgumentException(texts + " is not " + expected);
  }

  /** Returns the texts of one line: lists are separated by commas. */
  List<String> split(String line) {
    return list ? List.of(line.split(",", -1)) : List.of(line);
  }

  /** Returns the host of an address to listen on. */
  static String hostOf(String address) {
    String host = HostText.hostOf(address);
    return host.isEmpty() ? EVERY_ADDRESS : host;
  }

  /** Returns the port of an address to listen on. */
  static int portOf(String address) {
    return HostText.portOf(address);
  }

  /** Returns the pairs of a text {@code NAME:VALUE,NAME:VALUE}, which the form has checked. */
  static SortedMap<String, String> pairs(String text) {
    SortedMap<String, String> pairs = new TreeMap<>();
    for (String pair : text.split(",", -1)) {
      int colon = pair.indexOf(':');
      if (colon > 0) {
        pairs.put(pair.substring(0, colon), pair.substring(colon + 1));
      }
    }
    return Collections.unmodifiableSortedMap(pairs);
  }

  /** Returns whether a text is true or false; null when it is neither. */
  static @Nullable Boolean parseFlag(String text) {
    if (TRUE.contains(text)) {
      return Boolean.TRUE;
    }
    return FALSE.contains(text) ? Boolean.FALSE : null;
  }

  private static @Nullable Long parseLong(String text, long min, long max) {
    if (!WHOLE_NUMBER.matcher(text).matches()) {
      return null;
    }
    try {
      long value = Long.parseLong(text);
      return value >= min && value <= max ? value : null;
    } catch (NumberFormatException e) { // nineteen digits beyond a long
      return null;
    }
  }

  private static @Nullable Double parseRatio(String text, double max) {
    if (!DECIMAL.matcher(text).matches()) {
      return null;
    }
    double value = Double.parseDouble(text);
    return value <= max ? value : null;
  }

  private static @Nullable Duration within(
      @Nullable Duration value, @Nullable Duration min, @Nullable Duration max) {
    return value == null || value.compareTo(min) < 0 || value.compareTo(max) > 0 ? null : value;
  }

  private static @Nullable Object parseWord(
      String text, List<String> words, Map<String, Object> synonyms) {
    String word = text.toLowerCase(Locale.ROOT);
    for (String allowed : words) {
      if (allowed.equalsIgnoreCase(word)) {
        return allowed;
      }
    }
    return synonyms.get(word);
  }

  private static @Nullable Path parsePath(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static @Nullable String parseSecret(String text) throws InvalidTextException {
    if (text.equals(Secrets.HIDDEN)) { // copied from a printed configuration
      throw new InvalidTextException("*** is printed in place of a secret");
    }
    return text.chars().anyMatch(Character::isISOControl) ? null : text;
  }
}
