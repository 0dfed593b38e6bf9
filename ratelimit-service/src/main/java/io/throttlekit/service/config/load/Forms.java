package io.throttlekit.service.config.load;

import io.throttlekit.service.identity.Identity;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
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
  private static final String HOST = "[0-9A-Za-z_.:%-]{1,255}";
  private static final Pattern ADDRESS = Pattern.compile("(" + HOST + ")?:([0-9]{1,5})");

  private static final int MAX_PORT = 65_535;

  private Forms() {}

  static Form<Boolean> flag() {
    return Form.of("true or false", Forms::parseFlag, String::valueOf)
        .hinting(List.of("true", "false"));
  }

  static Form<Integer> port() {
    return integer("a port (a whole number from 0 to 65535, 0 for any free one)", 0, MAX_PORT);
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
    return matching("a host name or an IP address without a port", HOST);
  }

  static Form<String> headerName() {
    return matching(
        "the name of an HTTP header (letters, digits and hyphens)",
        "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
  }

  static Form<String> text() {
    return Form.of("a text", text -> text, Forms::quoted);
  }

  /** Returns the syntax of a text that can be sent in a header. */
  static Form<String> headerValue() {
    return matching("a text without control characters", "[ -~]*");
  }

  /** Returns the syntax of a path, or an empty text. */
  static Form<String> optionalPath() {
    return Form.of(
        "the path of a file", text -> parsePath(text) == null ? null : text, Forms::quoted);
  }

  static Form<List<Path>> paths() {
    return list(
        "a list of paths",
        text -> text.isEmpty() ? null : parsePath(text),
        path -> quoted(path.toString()));
  }

  /** Returns the syntax of one of some words, in any case; {@code synonyms} maps other words. */
  static Form<String> word(List<String> words, Map<String, String> synonyms) {
    return Form.of(
            "one of " + String.join(", ", words),
            text ->
                words.stream()
                    .filter(text::equalsIgnoreCase)
                    .findFirst()
                    .orElse(synonyms.get(text.toLowerCase(Locale.ROOT))),
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
    return matching(
        "the name of a region (1 to 64 letters, digits, hyphens, underscores and dots)",
        "[0-9A-Za-z._-]{0,64}");
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
                text -> text.equals(Secrets.HIDDEN) ? "*** is printed in place of a secret" : ""));
  }

  /**
   * Returns the syntax of a prefix of all keys in a store; no braces, as they select Redis
   * Cluster's slot.
   */
  static Form<String> keyPrefix() {
    return matching(
        "at most 100 printable ASCII characters without blanks and braces", "[!-z|~]{0,100}");
  }

  /** Returns the syntax of an address to listen on. */
  static Form<String> address() {
    return Form.of(
        "HOST:PORT, or :PORT for every address",
        text -> ADDRESS.matcher(text).matches() && portOf(text) <= MAX_PORT ? text : null,
        Forms::quoted);
  }

  /** Returns the host of an address to listen on. */
  static String hostOf(String address) {
    String host = address.substring(0, address.lastIndexOf(':'));
    return host.isEmpty() ? "0.0.0.0" : host;
  }

  /** Returns the port of an address to listen on. */
  static int portOf(String address) {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  static Form<String> urlPath() {
    return matching("a path that begins with a slash", "/[0-9A-Za-z/._~-]{0,200}");
  }

  static Form<List<Identity>> identities() {
    return list(
        "a list of identities, each " + Identity.EXPECTED,
        text -> Identity.parse(text.strip()),
        identity -> alwaysQuoted(identity.pattern()));
  }

  static Form<String> endpoint() {
    return Form.of(
        "an http or https URL such as http://127.0.0.1:4318",
        text -> text.matches("(https?://[^\\s\\p{Cntrl}]{1,2000})?") ? text : null,
        text -> quoted(Secrets.mask(text)));
  }

  /** Quotes the text where YAML would not read the bare text as the same text. */
  static String quoted(String text) {
    if (text.matches("[A-Za-z/][A-Za-z0-9_./-]*")
        && parseFlag(text) == null
        && !text.equalsIgnoreCase("null")) {
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

  private static @Nullable Path parsePath(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  private static Form<String> matching(String expected, String regex) {
    Pattern pattern = Pattern.compile(regex);
    return Form.of(expected, text -> pattern.matcher(text).matches() ? text : null, Forms::quoted);
  }

  private static <T> Form<List<T>> list(
      String expected, Function<String, @Nullable T> parser, Function<T, String> printer) {
    return new Form<>(
        expected,
        List.of(),
        true,
        texts -> {
          List<T> values = new ArrayList<>();
          for (String text : texts) {
            T value = parser.apply(text);
            if (value == null) {
              return null;
            }
            values.add(value);
          }
          return values;
        },
        values -> values.stream().map(printer).collect(Collectors.joining(", ", "[", "]")));
  }
}
