package io.throttlekit.service.config;

import java.util.List;
import java.util.regex.Pattern;

/** Reads the address of Redis from a URI. */
final class RedisUri {

  static final String ONE = "redis://HOST:PORT";
  static final String GUARDED = "redis-sentinel://HOST:PORT,HOST:PORT#MASTER";
  static final String CLUSTER = "redis-cluster://HOST:PORT,HOST:PORT";
  static final String SOCKET = "redis-socket:///PATH";

  private static final int REDIS_PORT = 6379;
  private static final int SENTINEL_PORT = 26_379;
  // At most five digits, which fit an int.
  private static final Pattern DATABASE = Pattern.compile("[0-9]{1,5}");

  private RedisUri() {}

  static StoreAddress standalone(boolean tls, UriParts uri) throws InvalidUriException {
    List<StoreAddress.Node> nodes = uri.nodes(REDIS_PORT);
    if (nodes.size() > 1) {
      throw new InvalidUriException("several hosts need redis-cluster:// or redis-sentinel://");
    }
    uri.noName();
    return new StoreAddress.Standalone(tls, nodes.getFirst(), database(uri, uri.path()));
  }

  static StoreAddress sentinel(boolean tls, UriParts uri) throws InvalidUriException {
    String master = uri.name() == null ? null : UriText.decode(uri.name());
    if (master == null || master.isEmpty() || !UriParts.printable(master)) {
      throw new InvalidUriException("after # the name of the master has to follow", GUARDED);
    }
    return new StoreAddress.Sentinel(
        tls, uri.nodes(SENTINEL_PORT), master, database(uri, uri.path()));
  }

  static StoreAddress cluster(boolean tls, UriParts uri) throws InvalidUriException {
    uri.noName();
    if (database(uri, uri.path()) != 0) {
      throw new InvalidUriException("a cluster has no databases but 0");
    }
    return new StoreAddress.Cluster(tls, uri.nodes(REDIS_PORT));
  }

  static StoreAddress socket(UriParts uri) throws InvalidUriException {
    String path = UriText.decode(uri.path());
    if (path == null || path.length() < 2 || !uri.hosts().isEmpty() || !UriParts.printable(path)) {
      throw new InvalidUriException("the path of the socket has to begin with a slash", SOCKET);
    }
    uri.noName();
    return new StoreAddress.Socket(path, database(uri, ""));
  }

  /** Returns the database, which stands after the hosts or in the only parameter. */
  private static int database(UriParts uri, String path) throws InvalidUriException {
    String query = uri.query();
    if (!query.isEmpty() && !query.startsWith("db=")) {
      throw new InvalidUriException(
          "it has no parameter but db: other things are settings of their own");
    }
    String number = query.isEmpty() ? path.replaceFirst("^/", "") : query.substring(3);
    if (number.isEmpty() && query.isEmpty()) {
      return 0;
    }
    if (!DATABASE.matcher(number).matches()) {
      throw new InvalidUriException("a database is a number from 0 to 99999");
    }
    return Integer.parseInt(number);
  }
}
