package io.throttlekit.service.config.load;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import io.throttlekit.descriptors.source.Wording;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Node;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.SslMode;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * URI of a store, which may contain credentials before an {@code @}.
 *
 * <p>Hosts, ports, paths and names are read by the parsers of the clients, Lettuce and pgjdbc,
 * after everything that they would misread or log was refused. Credentials are split off before:
 * they may contain any character, also unencoded.
 *
 * @param address address of the store
 * @param login credentials; empty when the URI has none
 */
record StoreUri(StoreAddress address, Login login) {
  private static final String SENTINEL = "redis-sentinel://HOST:PORT,HOST:PORT#MASTER";
  private static final String SOCKET = "redis-socket:///PATH";
  private static final String POSTGRES = "postgresql://HOST:PORT/DATABASE";
  static final String EXPECTED =
      ("memory, redis://HOST:PORT, %s, redis-cluster://HOST:PORT,HOST:PORT (each with rediss for"
              + " TLS), %s or %s")
          .formatted(SENTINEL, SOCKET, POSTGRES);

  private static final List<String> SCHEMES =
      List.of(
          "redis",
          "rediss",
          "redis-sentinel",
          "rediss-sentinel",
          "redis-cluster",
          "rediss-cluster",
          "redis-socket",
          "postgresql",
          "postgres");
  private static final List<String> POSTGRES_OPTIONS = List.of("sslmode", "schema");
  private static final List<String> SSL_MODES =
      Arrays.stream(SslMode.values()).map(SslMode::toString).toList();

  private static final String HOST_FORM = "each host is a name or an IP address, then a port";
  private static final int MAX_LENGTH = 10_000; // characters; a thousand hosts fit
  private static final int MAX_NODES = 1_000; // far above a cluster's seeds; bounds what is printed
  private static final int MAX_NAME = 63; // bytes; PostgreSQL truncates longer names

  private static final Pattern PARTS =
      Pattern.compile(
          "(?<scheme>[A-Za-z][A-Za-z+.-]*)://((?<login>[^\\s\\p{Cntrl}]*)@)?"
              + "(?<hosts>[^/?#@]*)(?<path>/[^?#@]*)?(\\?(?<query>[^#@]*))?(#(?<name>[^@]*))?");
  // A host name, or an IPv6 address in brackets.
  private static final Pattern NODE =
      Pattern.compile("([0-9A-Za-z_.-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}])(:(?<port>[0-9]{1,5}))?");
  private static final Pattern DATABASE = Pattern.compile("[0-9]{1,5}");
  // A name that needs no quotes in SQL, of at most 63 bytes.
  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  // Without brackets: digits and colons, two of them in a row; then perhaps a port.
  private static final Pattern BARE_IPV6 =
      Pattern.compile(
          "^(?=.*::)(?<address>[0-9A-Fa-f:.]{2,45}?)(?<port>:(?:6379|6380|5432|26379))?$");
  private static final Pattern NO_NUMBER = Pattern.compile("[^:\\[]{1,255}:[^:]*[^0-9:][^:]*");
  private static final Pattern HOST_AND_PORT = Pattern.compile("[^,]{1,300}:[0-9]{1,5}");
  // A scheme without its slashes, unless a port follows: then it is a host.
  private static final Pattern NO_SLASHES =
      Pattern.compile("(?i)(" + String.join("|", SCHEMES) + "):(?!//|[0-9]{1,5}(/.*)?$).*");

  /** Returns the URI of this process's memory. */
  static StoreUri memory() {
    return new StoreUri(new StoreAddress.Memory(), Login.none());
  }

  @Override
  public String toString() {
    String uri = address.toString();
    return login.given() ? uri.replaceFirst("://", "://" + Secrets.HIDDEN + "@") : uri;
  }

  /**
   * Parses the text.
   *
   * @throws InvalidTextException with the reason, and what would be valid; it shows nothing of the
   *     text but a host and its port, as the rest may contain a password
   */
  static StoreUri parse(String text) throws InvalidTextException {
    if (text.equals("memory")) {
      return memory();
    }
    Matcher parts = PARTS.matcher(text);
    if (text.length() > MAX_LENGTH || !parts.matches()) {
      throw unreadable(text);
    }
    String scheme = part(parts, "scheme").toLowerCase(Locale.ROOT);
    if (!SCHEMES.contains(scheme)) {
      throw new InvalidTextException(
          "there is no store of that scheme" + Wording.hint(scheme, SCHEMES), EXPECTED);
    }
    if (!scheme.endsWith("-sentinel") && parts.group("name") != null) {
      throw new InvalidTextException("a name after # needs redis-sentinel://");
    }
    boolean tls = scheme.startsWith("rediss");
    StoreAddress address =
        switch (tls ? scheme.replace("rediss", "redis") : scheme) {
          case "redis" -> standalone(tls, parts);
          case "redis-sentinel" -> sentinel(tls, parts);
          case "redis-cluster" -> cluster(tls, parts);
          case "redis-socket" -> socket(parts);
          default -> postgres(parts);
        };
    return new StoreUri(address, login(part(parts, "login"), address instanceof Postgres));
  }

  /** Returns the error of a text that does not have the form of a URI. */
  private static InvalidTextException unreadable(String text) {
    if (text.length() > MAX_LENGTH) {
      return new InvalidTextException("it is longer than " + MAX_LENGTH + " characters");
    }
    if (HOST_AND_PORT.matcher(text).matches() && NODE.matcher(text).matches()) {
      return new InvalidTextException("it has no scheme", atItsPort(text));
    }
    if (BARE_IPV6.matcher(text).matches()) {
      String bracketed = inBrackets(text);
      String withPort = bracketed.endsWith("]") ? bracketed + ":PORT" : bracketed;
      return new InvalidTextException(
          "it has no scheme, and an IPv6 address is in brackets", atItsPort(withPort));
    }
    if (text.regionMatches(true, 0, "jdbc:", 0, 5)) {
      return new InvalidTextException(
          "the URI must start with the scheme of a store, without jdbc:", EXPECTED);
    }
    if (NO_SLASHES.matcher(text).matches()) {
      return new InvalidTextException("two slashes have to follow the scheme", EXPECTED);
    }
    if (!text.contains("://")) {
      String hint = Wording.hint(text, List.of("memory"));
      return new InvalidTextException("it has no scheme" + hint, EXPECTED);
    }
    return new InvalidTextException("what follows the scheme cannot be read", EXPECTED);
  }

  /** Returns an IPv6 address without brackets as a host, with the port that it may end with. */
  private static String inBrackets(String address) {
    return BARE_IPV6.matcher(address).replaceFirst("[${address}]${port}");
  }

  /** Returns the URI that a host and port were probably meant as. */
  private static String atItsPort(String hostAndPort) {
    return hostAndPort.endsWith(":5432")
        ? "postgresql://" + hostAndPort + "/DATABASE"
        : "redis://" + hostAndPort;
  }

  private static StoreAddress standalone(boolean tls, Matcher parts) throws InvalidTextException {
    List<Node> nodes = redisNodes(parts, false);
    if (nodes.size() > 1) {
      throw new InvalidTextException("several hosts need redis-cluster:// or redis-sentinel://");
    }
    return new StoreAddress.Standalone(tls, nodes.getFirst(), database(parts, true));
  }

  private static StoreAddress cluster(boolean tls, Matcher parts) throws InvalidTextException {
    if (database(parts, true) != 0) {
      throw new InvalidTextException("a cluster has no databases but 0");
    }
    return new StoreAddress.Cluster(tls, redisNodes(parts, false));
  }

  private static StoreAddress sentinel(boolean tls, Matcher parts) throws InvalidTextException {
    String master =
        read("redis-sentinel://h#" + part(parts, "name"), RedisURI::getSentinelMasterId);
    if (master.isEmpty()) {
      throw new InvalidTextException(
          "after # the name of the master has to follow, percent-encoded", SENTINEL);
    }
    List<Node> nodes = redisNodes(parts, true);
    return new StoreAddress.Sentinel(tls, nodes, master, database(parts, true));
  }

  private static StoreAddress socket(Matcher parts) throws InvalidTextException {
    String path = read("redis-socket://" + part(parts, "path"), RedisURI::getSocket);
    if (path.length() < 2 || !part(parts, "hosts").isEmpty()) {
      throw new InvalidTextException(
          "the path of the socket has to begin with a slash, percent-encoded", SOCKET);
    }
    return new StoreAddress.Socket(path, database(parts, false));
  }

  /** Returns a part of a URI, as Lettuce reads it; empty when it is missing or not encoded. */
  private static String read(String uri, Function<RedisURI, @Nullable String> part) {
    try {
      String read = part.apply(RedisURI.create(uri));
      return read == null || !printable(read) ? "" : read;
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  private static StoreAddress postgres(Matcher parts) throws InvalidTextException {
    String hosts = String.join(",", hosts(parts));
    String path = "/" + part(parts, "path").replaceFirst("^/", "").replace("/", "%2F");
    Map<String, String> read = jdbc("jdbc:postgresql://" + hosts + path);
    String database = read.getOrDefault("PGDBNAME", "");
    if (database.isEmpty()
        || !printable(database)
        || database.getBytes(StandardCharsets.UTF_8).length > MAX_NAME) {
      throw new InvalidTextException(
          "after the hosts the name of a database has to follow", POSTGRES);
    }
    String[] names = read.getOrDefault("PGHOST", "").split(",", -1);
    String[] ports = read.getOrDefault("PGPORT", "").split(",", -1);
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < names.length; i++) {
      nodes.add(node(names[i], Integer.parseInt(ports[i])));
    }
    Map<String, String> options = postgresOptions(part(parts, "query"));
    String schema = options.getOrDefault("schema", Postgres.DEFAULT_SCHEMA);
    if (!SCHEMA.matcher(schema).matches()) {
      throw new InvalidTextException(
          "a schema is at most 63 lower-case letters, digits and underscores, no digit first");
    }
    return new Postgres(nodes, database, sslMode(options.get("sslmode")), schema);
  }

  /** Returns the properties that pgjdbc reads from a URL; none when it cannot read it. */
  private static Map<String, String> jdbc(String url) {
    Map<String, String> read = new HashMap<>();
    try {
      Properties none = new Properties();
      for (var property : DriverManager.getDriver(url).getPropertyInfo(url, none)) {
        if (property.value != null) {
          read.put(property.name, property.value);
        }
      }
    } catch (SQLException e) {
      return Map.of();
    }
    return read;
  }

  /** Returns the options; all others are refused, because the driver would apply them. */
  private static Map<String, String> postgresOptions(String query) throws InvalidTextException {
    Map<String, String> options = new HashMap<>();
    for (String option : query.isEmpty() ? new String[0] : query.split("&", -1)) {
      String name = option.replaceFirst("(?s)=.*", "").toLowerCase(Locale.ROOT);
      if (name.equals("user") || name.equals("password")) {
        throw new InvalidTextException(
            "credentials have to stand before the hosts",
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE");
      }
      if (!POSTGRES_OPTIONS.contains(name)) {
        throw new InvalidTextException(
            "it has no parameters but sslmode and schema"
                + Wording.hint(name, POSTGRES_OPTIONS)
                + ": other things are settings of their own");
      }
      String value = option.substring(Math.min(option.length(), name.length() + 1));
      if (options.put(name, value) != null) {
        throw new InvalidTextException(name + " is given twice");
      }
    }
    return options;
  }

  private static SslMode sslMode(@Nullable String text) throws InvalidTextException {
    if (text == null) {
      return SslMode.PREFER;
    }
    return Arrays.stream(SslMode.values())
        .filter(mode -> mode.toString().equalsIgnoreCase(text))
        .findFirst()
        .orElseThrow(() ->
            new InvalidTextException(
                "sslmode is one of "
                    + String.join(", ", SSL_MODES)
                    + Wording.hint(text, SSL_MODES)));
  }

  /** Returns the hosts, each with a port or without one; at least one. */
  private static List<String> hosts(Matcher parts) throws InvalidTextException {
    List<String> hosts = List.of(part(parts, "hosts").split(",", -1));
    for (String host : hosts) {
      Matcher node = NODE.matcher(host);
      if (!node.matches()) {
        throw new InvalidTextException(malformed(host));
      }
      String port = node.group("port");
      if (port != null && (Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65_535)) {
        throw new InvalidTextException("a port is a number from 1 to 65535");
      }
    }
    if (hosts.size() > MAX_NODES) {
      throw new InvalidTextException("there are more than " + MAX_NODES + " hosts");
    }
    return hosts;
  }

  private static String malformed(String host) {
    if (BARE_IPV6.matcher(host).matches()) {
      return "an IPv6 address is in brackets: " + inBrackets(host);
    }
    return NO_NUMBER.matcher(host).matches()
        ? "after the colon a port has to follow, a number from 1 to 65535; what is there is shown"
            + " as ***, as it could be a password"
        : HOST_FORM;
  }

  private static List<Node> redisNodes(Matcher parts, boolean sentinels)
      throws InvalidTextException {
    List<Node> nodes = new ArrayList<>();
    try {
      for (String host : hosts(parts)) { // one by one: Lettuce reads no list with IPv6 addresses
        RedisURI uri =
            sentinels
                ? RedisURI.create("redis-sentinel://" + host + "#m").getSentinels().getFirst()
                // RedisURI.create takes the port for a part of a name with an underscore.
                : RedisClusterURIUtil.toRedisURIs(URI.create("redis://" + host)).getFirst();
        nodes.add(node(uri.getHost(), uri.getPort()));
      }
    } catch (IllegalArgumentException e) { // a malformed IPv6 address
      throw new InvalidTextException(HOST_FORM);
    }
    return nodes;
  }

  private static Node node(String host, int port) {
    return new Node(host.replaceAll("[\\[\\]]", ""), port);
  }

  /**
   * Returns the number of a Redis database, which is the path or the only parameter.
   *
   * @param inPath whether the path may be the number
   */
  private static int database(Matcher parts, boolean inPath) throws InvalidTextException {
    String query = part(parts, "query");
    if (!query.isEmpty() && !query.startsWith("db=")) {
      throw new InvalidTextException(
          "it has no parameter but db: other things are settings of their own");
    }
    String path = inPath ? part(parts, "path").replaceFirst("^/", "") : "";
    String number = query.isEmpty() ? path : query.substring(3);
    if (number.isEmpty() && query.isEmpty()) {
      return 0;
    }
    if (!DATABASE.matcher(number).matches()) {
      throw new InvalidTextException("a database is a number from 0 to 99999");
    }
    return Integer.parseInt(number);
  }

  /**
   * Reads {@code user:password@} and {@code :password@}. A word alone is the password, but for
   * PostgreSQL the user, which may authenticate without a password.
   */
  private static Login login(String text, boolean userAlone) throws InvalidTextException {
    int colon = text.indexOf(':');
    int end = colon >= 0 ? colon : userAlone ? text.length() : 0; // of the user
    String user = decoded(text.substring(0, end));
    String password = decoded(text.substring(colon >= 0 ? colon + 1 : end));
    if (user.equals(Secrets.HIDDEN) || password.equals(Secrets.HIDDEN)) {
      throw new InvalidTextException("*** is printed in place of a password");
    }
    if (!user.isEmpty() && password.isEmpty() && !userAlone) {
      throw new InvalidTextException("a user needs a password: USER:PASSWORD@HOST");
    }
    return new Login(user, password);
  }

  private static String decoded(String text) throws InvalidTextException {
    try {
      // In a login, unlike in a form, a plus sign is itself.
      String decoded = URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
      if (decoded.indexOf('\ufffd') < 0) { // replaces bytes that are not UTF-8
        return decoded;
      }
    } catch (IllegalArgumentException e) {
      // Reported below.
    }
    throw new InvalidTextException(
        "in a password % stands before two hexadecimal digits; % itself is %25");
  }

  private static boolean printable(String text) {
    return text.chars().noneMatch(Character::isISOControl);
  }

  private static String part(Matcher parts, String name) {
    String part = parts.group(name);
    return part == null ? "" : part;
  }
}
