package io.throttlekit.redis;

import io.throttlekit.store.CircuitBreaker;
import java.util.regex.Pattern;

/**
 * Where a Redis is and how to deal with it.
 *
 * @param url {@code redis://[user[:password]@]host[:port][/database]}, {@code rediss://…} (TLS),
 *     {@code redis-sentinel://[password@]host[:port][,host…][/database]#master} or {@code
 *     redis-socket:///path[?database=n]}; of a Cluster, comma-separated URLs of some of its nodes
 * @param cluster whether it is a Redis Cluster
 * @param access what is needed to enter it, beside what the URL says
 * @param deadlineMillis how long an acquire, peek or reset may take at most, from 1; less where the
 *     caller does not wait as long
 * @param leaseDeadlineMillis how long a lease or giving back may take, from 1; a connection that
 *     answers nothing for so long is made anew
 * @param maxBatch how many requests share a round trip at most, from 1 to 1000
 * @param maxInFlight how many round trips are under way at most on each connection, from 1: what
 *     arrives meanwhile is gathered. A Cluster's connections have sixteen times as many, because
 *     each hash slot has its own
 * @param breaker when calls fail at once, and how often it is then tried again
 * @param connectTimeoutMillis how long making a connection may take, from 1
 */
public record RedisSettings(
    String url,
    boolean cluster,
    RedisAccess access,
    long deadlineMillis,
    long leaseDeadlineMillis,
    int maxBatch,
    int maxInFlight,
    CircuitBreaker.Settings breaker,
    long connectTimeoutMillis) {

  /**
   * What stands before the last host, of a Cluster with the nodes before it: a password may have
   * colons, commas and at signs.
   */
  private static final Pattern LOGIN = Pattern.compile("://.*@");

  /** Checks the ranges. */
  public RedisSettings {
    check("deadlineMillis", deadlineMillis);
    check("leaseDeadlineMillis", leaseDeadlineMillis);
    check("maxBatch", maxBatch);
    check("maxInFlight", maxInFlight);
    check("connectTimeoutMillis", connectTimeoutMillis);
    if (maxBatch > 1000) {
      throw new IllegalArgumentException("maxBatch must be at most 1000, was " + maxBatch);
    }
  }

  /** Returns the settings without what the URL and the access hold of passwords. */
  @Override
  public String toString() {
    return "RedisSettings[url=%s, cluster=%s, access=%s, deadlineMillis=%d, leaseDeadlineMillis=%d]"
        .formatted(
            LOGIN.matcher(url).replaceAll("://***@"),
            cluster,
            access,
            deadlineMillis,
            leaseDeadlineMillis);
  }

  private static void check(String what, long value) {
    if (value < 1) {
      throw new IllegalArgumentException(what + " must be at least 1, was " + value);
    }
  }
}
