package io.throttlekit.service.config;

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

  /** Whether TLS is spoken. */
  default boolean speaksTls() {
    return switch (this) {
      case Standalone one -> one.tls();
      case Sentinel guarded -> guarded.tls();
      case Cluster cluster -> cluster.tls();
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
