package io.throttlekit.service.config;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Address of the store for counters. It does not contain credentials, so its text, a URI, may be
 * printed.
 */
public sealed interface StoreAddress {

  /** The memory of this process: counters are not shared. */
  record Memory() implements StoreAddress {
    @Override
    public String toString() {
      return "memory";
    }
  }

  /**
   * A single Redis.
   *
   * @param tls whether to use TLS
   * @param node its host and port
   * @param database number of its database, from 0
   */
  record Standalone(boolean tls, Node node, int database) implements StoreAddress {
    @Override
    public String toString() {
      return (tls ? "rediss://" : "redis://") + node + atDatabase(database);
    }
  }

  /**
   * A Redis on this machine.
   *
   * @param path of the Unix socket, absolute
   * @param database number of its database, from 0
   */
  record Socket(String path, int database) implements StoreAddress {
    @Override
    public String toString() {
      return "redis-socket://" + encodedPath(path) + (database == 0 ? "" : "?db=" + database);
    }
  }

  /**
   * The current master of Redis Sentinels.
   *
   * @param tls whether to use TLS, with the Sentinels too
   * @param sentinels their hosts and ports, at least one
   * @param master the master's name in their configuration
   * @param database number of its database, from 0
   */
  record Sentinel(boolean tls, List<Node> sentinels, String master, int database)
      implements StoreAddress {
    /** Copies the list. */
    public Sentinel {
      sentinels = List.copyOf(sentinels);
    }

    @Override
    public String toString() {
      return (tls ? "rediss-sentinel://" : "redis-sentinel://")
          + listed(sentinels)
          + atDatabase(database)
          + "#"
          + encoded(master);
    }
  }

  /**
   * A Redis Cluster.
   *
   * @param tls whether to use TLS
   * @param seeds nodes from which the topology is read, at least one
   */
  record Cluster(boolean tls, List<Node> seeds) implements StoreAddress {
    /** Copies the list. */
    public Cluster {
      seeds = List.copyOf(seeds);
    }

    @Override
    public String toString() {
      return (tls ? "rediss-cluster://" : "redis-cluster://") + listed(seeds);
    }
  }

  /**
   * One PostgreSQL, or several of which one accepts writes.
   *
   * @param nodes their hosts and ports, at least one
   * @param database name of the database
   * @param sslMode use of TLS
   * @param schema name of the schema of all tables: lower-case letters, digits and underscores
   */
  record Postgres(List<Node> nodes, String database, SslMode sslMode, String schema)
      implements StoreAddress {

    /** Default schema. */
    public static final String DEFAULT_SCHEMA = "throttlekit";

    /** Copies the list. */
    public Postgres {
      nodes = List.copyOf(nodes);
    }

    @Override
    public String toString() {
      List<String> options = new ArrayList<>();
      if (sslMode != SslMode.PREFER) {
        options.add("sslmode=" + sslMode);
      }
      if (!schema.equals(DEFAULT_SCHEMA)) {
        options.add("schema=" + schema);
      }
      return "postgresql://"
          + listed(nodes)
          + "/"
          + encoded(database)
          + (options.isEmpty() ? "" : "?" + String.join("&", options));
    }
  }

  /** Use of TLS with PostgreSQL; its text is PostgreSQL's {@code sslmode}. */
  enum SslMode {
    /** No TLS. */
    DISABLE("disable"),
    /** TLS if the server supports it, without verification. */
    PREFER("prefer"),
    /** TLS without verification. */
    REQUIRE("require"),
    /** TLS with a server whose certificate was signed by a trusted authority. */
    VERIFY_CA("verify-ca"),
    /** The same, and the certificate contains the host name. */
    VERIFY_FULL("verify-full");

    private final String word;

    SslMode(String word) {
      this.word = word;
    }

    @Override
    public String toString() {
      return word;
    }
  }

  /**
   * Host and port of a server.
   *
   * @param host name or IP address, without brackets
   * @param port from 1 to 65535
   */
  record Node(String host, int port) {
    @Override
    public String toString() {
      return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
  }

  /** Returns whether counters are in the memory of this process. */
  default boolean inMemory() {
    return this instanceof Memory;
  }

  /** Returns whether TLS is used, or would be with a server that supports it. */
  default boolean usesTls() {
    return switch (this) {
      case Standalone one -> one.tls();
      case Sentinel guarded -> guarded.tls();
      case Cluster cluster -> cluster.tls();
      case Postgres database -> database.sslMode() != SslMode.DISABLE;
      case Memory _, Socket _ -> false;
    };
  }

  /** Returns a text with all characters percent-encoded that have a meaning in a URI. */
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /**
   * Returns a path with all characters percent-encoded that have a meaning in a URI, but slashes.
   */
  static String encodedPath(String path) {
    return encoded(path).replace("%2F", "/");
  }

  private static String listed(List<Node> nodes) {
    return nodes.stream().map(Node::toString).collect(Collectors.joining(","));
  }

  private static String atDatabase(int database) {
    return database == 0 ? "" : "/" + database;
  }
}
