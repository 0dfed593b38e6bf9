package io.throttlekit.service.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Syntax of the types of values that settings have. */
final class Forms {

  // The words that Go's strconv.ParseBool accepts, as envoyproxy/ratelimit does.
  private static final Set<String> TRUE = Set.of("1", "t", "T", "TRUE", "true", "True");
  private static final Set<String> FALSE = Set.of("0", "f", "F", "FALSE", "false", "False");
  // Lengths are bounded, so that a hostile value cannot take long to check or fill the log.
  private static final Pattern WHOLE_NUMBER = Pattern.compile("[+-]?[0-9]{1,19}");
  private static final Pattern DECIMAL = Pattern.compile("[+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)");
  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
  private static final Pattern HOST = Pattern.compile("[0-9A-Za-z_.:%-]{1,255}");

  private static final Pattern ENDPOINT = Pattern.compile("https?://[^\\s\\p{Cntrl}]{1,2000}");

  private static final Pattern KEY_PREFIX = Pattern.compile("[!-z|~]{0,100}");

  private static final Pattern REGION = Pattern.compile("[0-9A-Za-z._-]{0,64}");

  private static final Pattern URL_PATH = Pattern.compile("/[0-9A-Za-z/._~-]{0,200}");

  private Forms() {}

  static Form<Boolean> flag() {
    return Form.of("true or false", Forms::parseFlag, String::valueOf)
        .hinting(List.of("true", "false"));
  }

  static Form<Integer> port() {
    return integer("a port (a whole number from 0 to 65535, 0 for any free one)", 0, 65_535);
  }

  static Form<Integer> count(int least, int most) {
    return integer("a whole number from " + least + " to " + most, least, most);
  }

  static Form<Long> longCount(long least, long most) {
    return Form.of(
        "a whole number from " + least + " to " + most,
        text -> parseLong(text, least, most),
        String::valueOf);
  }

  static Form<Double> ratio() {
    return Form.of("a number from 0 to 1", Forms::parseRatio, String::valueOf);
  }

  static Form<Duration> duration(Duration least, Duration most) {
    return Form.of(
        "a duration from %s to %s, such as 500ms, 10s or 1h30m"
            .formatted(GoDuration.format(least), GoDuration.format(most)),
        text -> within(GoDuration.parse(text), least, most),
        GoDuration::format);
  }

  static Form<String> host() {
    return Form.of(
        "a host name or an IP address without a port",
        text -> HOST.matcher(text).matches() ? text : null,
        Forms::quoted);
  }

  static Form<String> headerName() {
    return Form.of(
        "the name of an HTTP header (letters, digits and hyphens)",
        text -> HEADER_NAME.matcher(text).matches() ? text : null,
        Forms::quoted);
  }

  static Form<String> text() {
    return Form.of("a text", text -> text, Forms::quoted);
  }

  /** Returns the syntax of a text that can be sent in a header. */
  static Form<String> headerValue() {
    return Form.of(
        "a text without control characters",
        text -> text.chars().allMatch(c -> c >= ' ' && c < 0x7f) ? text : null,
        Forms::quoted);
  }

  /** Returns the syntax of a path, or an empty text. */
  static Form<String> optionalPath() {
    return Form.of(
        "the path of a file", text -> parsePath(text) == null ? null : text, Forms::quoted);
  }

  static Form<List<Path>> paths() {
    return new Form<>("a list of paths", List.of(), true, Forms::parsePaths, Forms::printPaths);
  }

  /** Returns the syntax of one of some words, in any case; {@code otherSpellings} maps synonyms. */
  static Form<String> word(List<String> words, Map<String, String> otherSpellings) {
    return Form.of(
            words.size() == 1 ? words.getFirst() : "one of " + String.join(", ", words),
            text -> {
              String lower = text.toLowerCase(Locale.ROOT);
              return words.contains(lower) ? lower : otherSpellings.get(lower);
            },
            String::valueOf)
        .hinting(words);
  }

  static Form<StoreUri> storeUri() {
    return Form.of(StoreUri.EXPECTED, StoreUri::parse, uri -> quoted(uri.toString()))
        .complaining(new Form.InvalidText(Secrets::maskStore, StoreUri::wrongWith));
  }

  /** Returns a syntax that also accepts an empty text. */
  static <T> Form<Optional<T>> optional(Form<T> form) {
    return new Form<>(
        form.expected(),
        form.words(),
        form.list(),
        texts -> {
          if (texts.equals(List.of(""))) {
            return Optional.empty();
          }
          T value = form.parse(texts);
          return value == null ? null : Optional.of(value);
        },
        value -> value.map(form.printer()).orElse("\"\""),
        form.complaint(),
        null);
  }

  /** Returns the syntax of a region's name, or an empty text. */
  static Form<String> region() {
    return Form.of(
        "the name of a region (1 to 64 letters, digits, hyphens, underscores and dots)",
        text -> REGION.matcher(text).matches() ? text : null,
        Forms::quoted);
  }

  /** Returns the syntax of a text that is never printed. */
  static Form<String> secret() {
    return Form.of(
            "a text without control characters",
            text -> isSecret(text) ? text : null,
            text -> alwaysQuoted(text.isEmpty() ? "" : Secrets.HIDDEN))
        .complaining(
            new Form.InvalidText(
                text -> Secrets.HIDDEN,
                text ->
                    text.equals(Secrets.HIDDEN)
                        ? "*** stands where a secret was not printed"
                        : ""));
  }

  /**
   * Returns the syntax of a prefix of all keys in a store; no braces, as they select Redis
   * Cluster's slot.
   */
  static Form<String> keyPrefix() {
    return Form.of(
        "at most 100 printable ASCII characters without blanks and braces",
        text -> KEY_PREFIX.matcher(text).matches() ? text : null,
        Forms::quoted);
  }

  /** Returns the syntax of an address to listen on, or an empty text. */
  static Form<String> address() {
    return Form.of(
        "HOST:PORT, or :PORT for every address",
        text -> text.isEmpty() || isAddress(text) ? text : null,
        Forms::quoted);
  }

  /** Returns the syntax of an address to listen on. */
  static Form<String> listenAddress() {
    return Form.of(
        "HOST:PORT, or :PORT for every address",
        text -> isAddress(text) ? text : null,
        Forms::quoted);
  }

  static Form<String> urlPath() {
    return Form.of(
        "a path that begins with a slash",
        text -> URL_PATH.matcher(text).matches() ? text : null,
        Forms::quoted);
  }

  static Form<String> endpoint() {
    return Form.of(
        "an http or https URL such as http://127.0.0.1:4318",
        text -> text.isEmpty() || ENDPOINT.matcher(text).matches() ? text : null,
        text -> quoted(Secrets.mask(text)));
  }

  /** Quotes the text where YAML would not read the bare text as the same text. */
  static String quoted(String text) {
    if (text.matches("[A-Za-z/][A-Za-z0-9_./-]*") && parseFlag(text) == null && !isNull(text)) {
      return text;
    }
    return alwaysQuoted(text);
  }

  /**
   * Returns the text in double quotes, with control characters escaped: they could move a cursor.
   */
  static String alwaysQuoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ' || (c >= 0x7f && c < 0xa0)) {
        quoted.append("\\u%04x".formatted((int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  private static boolean isSecret(String text) {
    // The mask itself is refused: it was copied from a printed configuration.
    return !text.equals(Secrets.HIDDEN) && text.chars().noneMatch(Character::isISOControl);
  }

  private static boolean isAddress(String text) {
    int colon = text.lastIndexOf(':');
    return colon >= 0
        && (colon == 0 || HOST.matcher(text.substring(0, colon)).matches())
        && parseLong(text.substring(colon + 1), 0, 65_535) != null;
  }

  private static boolean isNull(String text) {
    return text.equalsIgnoreCase("null");
  }

  private static Form<Integer> integer(String expected, int least, int most) {
    return Form.of(
        expected,
        text -> {
          Long value = parseLong(text, least, most);
          return value == null ? null : value.intValue();
        },
        String::valueOf);
  }

  private static @Nullable Boolean parseFlag(String text) {
    if (TRUE.contains(text)) {
      return Boolean.TRUE;
    }
    return FALSE.contains(text) ? Boolean.FALSE : null;
  }

  private static @Nullable Long parseLong(String text, long least, long most) {
    if (!WHOLE_NUMBER.matcher(text).matches()) {
      return null;
    }
    try {
      long value = Long.parseLong(text);
      return value >= least && value <= most ? value : null;
    } catch (NumberFormatException e) { // nineteen digits beyond a long
      return null;
    }
  }

  private static @Nullable Double parseRatio(String text) {
    if (text.length() > 64 || !DECIMAL.matcher(text).matches()) {
      return null;
    }
    double value = Double.parseDouble(text);
    return value <= 1 ? value : null;
  }

  private static @Nullable Duration within(
      @Nullable Duration value, Duration least, Duration most) {
    return value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0 ? null : value;
  }

  private static @Nullable List<Path> parsePaths(List<String> texts) {
    List<Path> paths = new ArrayList<>();
    for (String text : texts) {
      Path path = text.isEmpty() ? null : parsePath(text);
      if (path == null) {
        return null;
      }
      paths.add(path);
    }
    return paths;
  }

  private static @Nullable Path parsePath(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static String printPaths(List<Path> paths) {
    return paths.stream()
        .map(path -> quoted(path.toString()))
        .collect(Collectors.joining(", ", "[", "]"));
  }
}
