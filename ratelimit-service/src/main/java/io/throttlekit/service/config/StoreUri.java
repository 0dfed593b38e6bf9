package io.throttlekit.service.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where counters live and, before an {@code @}, who this process says it is there.
 *
 * @param address where
 * @param login who; none when the URI does not say
 */
record StoreUri(StoreAddress address, Login login) {

  private static final String ONE = "redis://HOST:PORT";
  private static final String GUARDED = "redis-sentinel://HOST:PORT,HOST:PORT#MASTER";
  private static final String CLUSTER = "redis-cluster://HOST:PORT,HOST:PORT";
  private static final String SOCKET = "redis-socket:///PATH";

  static final String EXPECTED =
      "memory, %s, %s, %s (each with rediss for TLS) or %s"
          .formatted(ONE, GUARDED, CLUSTER, SOCKET);

  /** All schemes that are read, and so may have been meant. */
  private static final List<String> SCHEMES =
      List.of(
          "redis",
          "rediss",
          "redis-sentinel",
          "rediss-sentinel",
          "redis-cluster",
          "rediss-cluster",
          "redis-socket");

  private static final int REDIS_PORT = 6379;
  private static final int SENTINEL_PORT = 26_379;
  private static final int MOST_NODES = 1_000;
  private static final int LONGEST = 10_000;

  private static final Pattern URI =
      Pattern.compile(
          "(?<scheme>[A-Za-z][A-Za-z+.-]*)://((?<login>[^\\s\\p{Cntrl}]*)@)?"
              + "(?<hosts>[^/?#@]*)(?<path>/[^?#@]*)?(\\?(?<query>[^#@]*))?(#(?<master>[^@]*))?");
  private static final Pattern NODE =
      Pattern.compile(
          "(?<host>[0-9A-Za-z_.-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}])(:(?<port>[0-9]{1,5}))?");
  private static final Pattern HOST_AND_PORT = Pattern.compile("[^,]{1,300}:[0-9]{1,5}");
  private static final Pattern NO_SLASHES = Pattern.compile("(?i)rediss?(-[a-z]{1,20})?:(?!//).*");
  private static final Pattern DATABASE = Pattern.compile("[0-9]{1,5}");

  /** What a text is not a URI for; its message shows nothing of the text that may be a secret. */
  private static final class Mistake extends Exception {
    private static final long serialVersionUID = 1L;

    Mistake(String message) {
      super(message);
    }

    Mistake(String message, String right) {
      super(message + "; write " + right);
    }
  }

  /** The memory of this process. */
  static StoreUri memory() {
    return new StoreUri(new StoreAddress.Memory(), Login.none());
  }

  /** What the text says, or null when it is no URI of a store. */
  static @Nullable StoreUri parse(String text) {
    try {
      return read(text);
    } catch (Mistake e) {
      return null;
    }
  }

  /**
   * What is wrong with a text that is no URI of a store, and then what would be right; shows
   * nothing of it but a host and its port.
   */
  static String wrongWith(String text) {
    try {
      read(text);
      return "";
    } catch (Mistake e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Override
  public String toString() {
    String uri = address.toString();
    return login.given() ? uri.replaceFirst("://", "://" + Secrets.HIDDEN + "@") : uri;
  }

  private static StoreUri read(String text) throws Mistake {
    if (text.equals("memory")) {
      return memory();
    }
    Matcher uri = URI.matcher(text);
    if (text.length() > LONGEST || !uri.matches()) {
      throw unreadable(text);
    }
    String scheme = part(uri, "scheme").toLowerCase(Locale.ROOT);
    boolean tls = scheme.startsWith("rediss");
    StoreAddress address =
        switch (scheme) {
          case "redis", "rediss" -> standalone(tls, uri);
          case "redis-sentinel", "rediss-sentinel" -> sentinel(tls, uri);
          case "redis-cluster", "rediss-cluster" -> cluster(tls, uri);
          case "redis-socket" -> socket(uri);
          case "postgresql", "postgres" ->
              throw new Mistake("PostgreSQL is not available as a store in this version", EXPECTED);
          default ->
              throw new Mistake(
                  "there is no store of that scheme" + Spelling.hint(scheme, SCHEMES), EXPECTED);
        };
    return new StoreUri(address, login(part(uri, "login")));
  }

  /** What is wrong with a text that has not even the form of a URI. */
  private static Mistake unreadable(String text) {
    if (text.length() > LONGEST) {
      return new Mistake("it is longer than " + LONGEST + " characters");
    }
    if (HOST_AND_PORT.matcher(text).matches() && NODE.matcher(text).matches()) {
      return new Mistake("it has no scheme", "redis://" + text);
    }
    if (NO_SLASHES.matcher(text).matches()) {
      return new Mistake("two slashes have to follow the scheme", EXPECTED);
    }
    if (!text.contains("://")) {
      String hint = Spelling.hint(text, List.of("memory"));
      return new Mistake("it has no scheme" + hint, EXPECTED);
    }
    return new Mistake("what follows the scheme cannot be read", EXPECTED);
  }

  private static StoreAddress standalone(boolean tls, Matcher uri) throws Mistake {
    List<StoreAddress.Node> nodes = nodes(uri, REDIS_PORT);
    if (nodes.size() > 1) {
      throw new Mistake("several hosts need redis-cluster:// or redis-sentinel://");
    }
    noMaster(uri);
    return new StoreAddress.Standalone(tls, nodes.getFirst(), database(uri, part(uri, "path")));
  }

  private static StoreAddress sentinel(boolean tls, Matcher uri) throws Mistake {
    String master = UriText.decode(part(uri, "master"));
    if (master == null || master.isEmpty() || !printable(master)) {
      throw new Mistake("after # the name of the master has to follow", GUARDED);
    }
    return new StoreAddress.Sentinel(
        tls, nodes(uri, SENTINEL_PORT), master, database(uri, part(uri, "path")));
  }

  private static StoreAddress cluster(boolean tls, Matcher uri) throws Mistake {
    noMaster(uri);
    if (database(uri, part(uri, "path")) != 0) {
      throw new Mistake("a cluster has no databases but 0");
    }
    return new StoreAddress.Cluster(tls, nodes(uri, REDIS_PORT));
  }

  private static StoreAddress socket(Matcher uri) throws Mistake {
    String path = UriText.decode(part(uri, "path"));
    if (path == null || path.length() < 2 || !part(uri, "hosts").isEmpty() || !printable(path)) {
      throw new Mistake("the path of the socket has to begin with a slash", SOCKET);
    }
    noMaster(uri);
    return new StoreAddress.Socket(path, database(uri, ""));
  }

  private static void noMaster(Matcher uri) throws Mistake {
    if (uri.group("master") != null) {
      throw new Mistake("a name after # needs redis-sentinel://");
    }
  }

  private static List<StoreAddress.Node> nodes(Matcher uri, int standardPort) throws Mistake {
    List<StoreAddress.Node> nodes = new ArrayList<>();
    for (String text : part(uri, "hosts").split(",", -1)) {
      Matcher node = NODE.matcher(text);
      if (!node.matches()) {
        throw new Mistake("each host is a name or an IP address, then a port");
      }
      String port = part(node, "port");
      int number = port.isEmpty() ? standardPort : Integer.parseInt(port);
      if (number < 1 || number > 65_535) {
        throw new Mistake("a port is a number from 1 to 65535");
      }
      nodes.add(new StoreAddress.Node(part(node, "host").replaceAll("[\\[\\]]", ""), number));
    }
    if (nodes.size() > MOST_NODES) {
      throw new Mistake("there are more than " + MOST_NODES + " hosts");
    }
    return nodes;
  }

  /** The database, which stands after the hosts or in the one parameter that there is. */
  private static int database(Matcher uri, String path) throws Mistake {
    String query = part(uri, "query");
    if (!query.isEmpty() && !query.startsWith("db=")) {
      throw new Mistake("it has no parameter but db: other things are settings of their own");
    }
    String number = query.isEmpty() ? path.replaceFirst("^/", "") : query.substring(3);
    if (number.isEmpty() && query.isEmpty()) {
      return 0;
    }
    if (!DATABASE.matcher(number).matches()) {
      throw new Mistake("a database is a number from 0 to 99999");
    }
    return Integer.parseInt(number);
  }

  /** {@code user:password@}, {@code :password@} or {@code password@}. */
  private static Login login(String text) throws Mistake {
    int colon = text.indexOf(':');
    String user = UriText.decode(text.substring(0, Math.max(colon, 0)));
    String password = UriText.decode(text.substring(colon + 1));
    if (user == null || password == null) {
      throw new Mistake("in a password % stands before two hexadecimal digits; % itself is %25");
    }
    if (password.equals(Secrets.HIDDEN)) {
      throw new Mistake("*** stands where a password was not printed");
    }
    if (!user.isEmpty() && password.isEmpty()) {
      throw new Mistake("a user needs a password: USER:PASSWORD@HOST");
    }
    return new Login(user, password);
  }

  private static boolean printable(String text) {
    return text.chars().noneMatch(Character::isISOControl);
  }

  private static String part(Matcher matcher, String name) {
    String part = matcher.group(name);
    return part == null ? "" : part;
  }
}
