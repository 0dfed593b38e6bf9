package io.throttlekit.service.config;

import io.throttlekit.service.config.StoreAddress.SslMode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the address of PostgreSQL from a URI. */
final class PostgresUri {

  static final String EXPECTED = "postgresql://HOST:PORT/DATABASE";

  private static final int PORT = 5432;
  private static final int MAX_NAME = 63; // in bytes; the server truncates longer names
  private static final String SSL_MODE = "sslmode";
  private static final String SCHEMA = "schema";
  private static final List<String> OPTIONS = List.of(SSL_MODE, SCHEMA);
  private static final List<String> SSL_MODES =
      Arrays.stream(SslMode.values()).map(SslMode::toString).toList();
  // A name that needs no quotes in SQL, of at most 63 bytes.
  private static final Pattern SCHEMA_NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  private PostgresUri() {}

  static StoreAddress read(UriParts uri) throws InvalidUriException {
    uri.noName();
    List<StoreAddress.Node> nodes = uri.nodes(PORT);
    String database = UriText.decode(uri.path().replaceFirst("^/", ""));
    if (database == null || database.isEmpty() || !isName(database)) {
      throw new InvalidUriException(
          "after the hosts the name of a database has to follow", EXPECTED);
    }
    Map<String, String> options = options(uri.query());
    return new StoreAddress.Postgres(
        nodes, database, sslMode(options.get(SSL_MODE)), schema(options.get(SCHEMA)));
  }

  private static Map<String, String> options(String query) throws InvalidUriException {
    Map<String, String> options = new HashMap<>();
    for (String option : query.isEmpty() ? new String[0] : query.split("&", -1)) {
      String name = option.replaceFirst("(?s)=.*", "").toLowerCase(Locale.ROOT);
      if (name.equals("user") || name.equals("password")) {
        throw new InvalidUriException(
            "who this process is stands before the hosts",
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE");
      }
      if (!OPTIONS.contains(name)) {
        throw new InvalidUriException(
            "it has no parameters but sslmode and schema"
                + Spelling.hint(name, OPTIONS)
                + ": other things are settings of their own");
      }
      if (options.put(name, option.substring(Math.min(option.length(), name.length() + 1)))
          != null) {
        throw new InvalidUriException(name + " stands there twice");
      }
    }
    return options;
  }

  private static SslMode sslMode(@Nullable String text) throws InvalidUriException {
    if (text == null) {
      return SslMode.PREFER;
    }
    for (SslMode mode : SslMode.values()) {
      if (mode.toString().equalsIgnoreCase(text)) {
        return mode;
      }
    }
    throw new InvalidUriException(
        "sslmode is one of " + String.join(", ", SSL_MODES) + Spelling.hint(text, SSL_MODES));
  }

  private static String schema(@Nullable String text) throws InvalidUriException {
    if (text == null) {
      return StoreAddress.Postgres.DEFAULT_SCHEMA;
    }
    if (!SCHEMA_NAME.matcher(text).matches()) {
      throw new InvalidUriException(
          "a schema is at most 63 lower-case letters, digits and underscores, no digit first");
    }
    return text;
  }

  private static boolean isName(String text) {
    return UriParts.printable(text) && text.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME;
  }
}
