package io.throttlekit.service.config;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Where counters live. Names and passwords are not part of it, so its text, a URI, may be shown to
 * anybody.
 */
public sealed interface StoreAddress {

  /** The memory of this process: counters are shared with nobody. */
  record Memory() implements StoreAddress {
    @Override
    public String toString() {
      return "memory";
    }
  }

  /**
   * One Redis.
   *
   * @param tls whether TLS is spoken
   * @param node where it listens
   * @param database number of its database, from 0
   */
  record Standalone(boolean tls, Node node, int database) implements StoreAddress {
    @Override
    public String toString() {
      return (tls ? "rediss://" : "redis://") + node + atDatabase(database);
    }
  }

  /**
   * One Redis on this machine.
   *
   * @param path of the Unix socket, absolute
   * @param database number of its database, from 0
   */
  record Socket(String path, int database) implements StoreAddress {
    @Override
    public String toString() {
      return "redis-socket://" + UriText.encode(path) + (database == 0 ? "" : "?db=" + database);
    }
  }

  /**
   * The Redis that Sentinels call the master.
   *
   * @param tls whether TLS is spoken, with the Sentinels too
   * @param sentinels where they listen, at least one
   * @param master the name by which they know it
   * @param database number of its database, from 0
   */
  record Sentinel(boolean tls, List<Node> sentinels, String master, int database)
      implements StoreAddress {
    /** Keeps a copy of the list. */
    public Sentinel {
      sentinels = List.copyOf(sentinels);
    }

    @Override
    public String toString() {
      return (tls ? "rediss-sentinel://" : "redis-sentinel://")
          + listed(sentinels)
          + atDatabase(database)
          + "#"
          + UriText.encode(master);
    }
  }

  /**
   * A Redis Cluster.
   *
   * @param tls whether TLS is spoken
   * @param seeds where the others are asked for, at least one
   */
  record Cluster(boolean tls, List<Node> seeds) implements StoreAddress {
    /** Keeps a copy of the list. */
    public Cluster {
      seeds = List.copyOf(seeds);
    }

    @Override
    public String toString() {
      return (tls ? "rediss-cluster://" : "redis-cluster://") + listed(seeds);
    }
  }

  /**
   * One PostgreSQL, or several of which one can be written to.
   *
   * @param nodes where they listen, at least one
   * @param database name of the database
   * @param sslMode what is asked of TLS
   * @param schema name of the schema of all tables: lower-case letters, digits and underscores
   */
  record Postgres(List<Node> nodes, String database, SslMode sslMode, String schema)
      implements StoreAddress {

    /** The schema unless another one is said. */
    public static final String DEFAULT_SCHEMA = "throttlekit";

    /** Keeps a copy of the list. */
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
          + UriText.encode(database)
          + (options.isEmpty() ? "" : "?" + String.join("&", options));
    }
  }

  /** What is asked of TLS with PostgreSQL; its text is the word that PostgreSQL has for it. */
  enum SslMode {
    /** None is spoken. */
    DISABLE("disable"),
    /** It is spoken if the server does, with whomever. */
    PREFER("prefer"),
    /** It is spoken, with whomever. */
    REQUIRE("require"),
    /** It is spoken with a server whose certificate a trusted authority has signed. */
    VERIFY_CA("verify-ca"),
    /** The same, and the certificate carries the name of the host. */
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
   * Where somebody listens.
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

  /** Whether counters are in the memory of this process. */
  default boolean inMemory() {
    return this instanceof Memory;
  }

  /** Whether TLS is spoken, or would be with a server that does. */
  default boolean speaksTls() {
    return switch (this) {
      case Standalone one -> one.tls();
      case Sentinel guarded -> guarded.tls();
      case Cluster cluster -> cluster.tls();
      case Postgres database -> database.sslMode() != SslMode.DISABLE;
      case Memory _, Socket _ -> false;
    };
  }

  private static String listed(List<Node> nodes) {
    return nodes.stream().map(Node::toString).collect(Collectors.joining(","));
  }

  private static String atDatabase(int database) {
    return database == 0 ? "" : "/" + database;
  }
}
