package io.throttlekit.service.config;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * URI of a store, which may contain credentials before an {@code @}.
 *
 * @param address address of the store
 * @param login credentials; empty when the URI has none
 */
record StoreUri(StoreAddress address, Login login) {

  static final String EXPECTED =
      "memory, %s, %s, %s (each with rediss for TLS), %s or %s"
          .formatted(
              RedisUri.ONE,
              RedisUri.GUARDED,
              RedisUri.CLUSTER,
              RedisUri.SOCKET,
              PostgresUri.EXPECTED);

  /** Reader of the URIs of one scheme. */
  private interface Reader {
    StoreAddress read(UriParts uri) throws InvalidUriException;
  }

  /** A supported scheme, also used for spelling hints. */
  private record Scheme(String word, Reader reader) {}

  private static final List<Scheme> SCHEMES =
      List.of(
          new Scheme("redis", uri -> RedisUri.standalone(false, uri)),
          new Scheme("rediss", uri -> RedisUri.standalone(true, uri)),
          new Scheme("redis-sentinel", uri -> RedisUri.sentinel(false, uri)),
          new Scheme("rediss-sentinel", uri -> RedisUri.sentinel(true, uri)),
          new Scheme("redis-cluster", uri -> RedisUri.cluster(false, uri)),
          new Scheme("rediss-cluster", uri -> RedisUri.cluster(true, uri)),
          new Scheme("redis-socket", RedisUri::socket),
          new Scheme("postgresql", PostgresUri::read),
          new Scheme("postgres", PostgresUri::read));

  private static final int LONGEST = 10_000; // characters; a thousand hosts fit
  private static final Pattern HOST_AND_PORT = Pattern.compile("[^,]{1,300}:[0-9]{1,5}");
  private static final Pattern NO_SLASHES =
      Pattern.compile("(?i)(rediss?(-[a-z]{1,20})?|postgres(ql)?):(?!//).*");

  /** Returns the URI of this process's memory. */
  static StoreUri memory() {
    return new StoreUri(new StoreAddress.Memory(), Login.none());
  }

  /** Parses the text; null when it is not a valid URI of a store. */
  static @Nullable StoreUri parse(String text) {
    try {
      return read(text);
    } catch (InvalidUriException e) {
      return null;
    }
  }

  /**
   * Returns why a text is no valid URI of a store, and what would be; shows nothing of the text but
   * a host and its port, as the rest may contain a password.
   */
  static String wrongWith(String text) {
    try {
      read(text);
      return "";
    } catch (InvalidUriException e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Override
  public String toString() {
    String uri = address.toString();
    return login.given() ? uri.replaceFirst("://", "://" + Secrets.HIDDEN + "@") : uri;
  }

  private static StoreUri read(String text) throws InvalidUriException {
    if (text.equals("memory")) {
      return memory();
    }
    UriParts uri = text.length() > LONGEST ? null : UriParts.of(text);
    if (uri == null) {
      throw unreadable(text);
    }
    for (Scheme scheme : SCHEMES) {
      if (scheme.word().equals(uri.scheme())) {
        StoreAddress address = scheme.reader().read(uri);
        return new StoreUri(address, login(uri.login(), address instanceof StoreAddress.Postgres));
      }
    }
    List<String> words = SCHEMES.stream().map(Scheme::word).toList();
    String hint = Spelling.hint(uri.scheme(), words);
    throw new InvalidUriException("there is no store of that scheme" + hint, EXPECTED);
  }

  /** Returns the error of a text that does not have the form of a URI. */
  private static InvalidUriException unreadable(String text) {
    if (text.length() > LONGEST) {
      return new InvalidUriException("it is longer than " + LONGEST + " characters");
    }
    if (HOST_AND_PORT.matcher(text).matches() && UriParts.isNode(text)) {
      return new InvalidUriException("it has no scheme", "redis://" + text);
    }
    if (text.regionMatches(true, 0, "jdbc:", 0, 5)) {
      return new InvalidUriException("it is the URL of a driver, which begins too early", EXPECTED);
    }
    if (NO_SLASHES.matcher(text).matches()) {
      return new InvalidUriException("two slashes have to follow the scheme", EXPECTED);
    }
    if (!text.contains("://")) {
      String hint = Spelling.hint(text, List.of("memory"));
      return new InvalidUriException("it has no scheme" + hint, EXPECTED);
    }
    return new InvalidUriException("what follows the scheme cannot be read", EXPECTED);
  }

  /**
   * Reads {@code user:password@} and {@code :password@}. A word alone is the password, but for
   * PostgreSQL the user, which may authenticate without a password.
   */
  private static Login login(String text, boolean userAlone) throws InvalidUriException {
    int colon = text.indexOf(':');
    int end = colon >= 0 ? colon : userAlone ? text.length() : 0; // of the user
    String user = UriText.decode(text.substring(0, end));
    String password = UriText.decode(text.substring(colon >= 0 ? colon + 1 : end));
    if (user == null || password == null) {
      throw new InvalidUriException(
          "in a password % stands before two hexadecimal digits; % itself is %25");
    }
    if (user.equals(Secrets.HIDDEN) || password.equals(Secrets.HIDDEN)) {
      throw new InvalidUriException("*** stands where a password was not printed");
    }
    if (!user.isEmpty() && password.isEmpty() && !userAlone) {
      throw new InvalidUriException("a user needs a password: USER:PASSWORD@HOST");
    }
    return new Login(user, password);
  }
}
