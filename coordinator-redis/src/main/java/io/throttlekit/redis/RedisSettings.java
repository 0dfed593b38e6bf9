package io.throttlekit.redis;

import io.throttlekit.store.CircuitBreaker;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of a Redis and the settings of calls to it.
 *
 * @param url {@code redis://[user[:password]@]host[:port][/database]}, {@code rediss://…} (TLS),
 *     {@code redis-sentinel://[password@]host[:port][,host…][/database]#master} or {@code
 *     redis-socket:///path[?database=n]}; of a Cluster, comma-separated URLs of some of its nodes
 * @param cluster whether it is a Redis Cluster
 * @param access the access, besides the URL
 * @param deadlineMillis the longest that an acquire, peek or reset may take, from 1; the caller's
 *     shorter deadline has precedence
 * @param leaseDeadlineMillis the longest that a lease or a return may take, from 1; a connection
 *     without any answer for this time is replaced
 * @param maxBatch the most requests in a round trip, from 1 to 1000
 * @param maxInFlight the most round trips in flight on each connection, from 1; requests that
 *     arrive meanwhile are batched. A Cluster's connections have sixteen times as many, because
 *     each hash slot has its own
 * @param breaker when calls fail at once, and the interval of probes then
 * @param connectTimeoutMillis the longest that opening a connection may take, from 1
 */
public record RedisSettings(
    String url,
    boolean cluster,
    Access access,
    long deadlineMillis,
    long leaseDeadlineMillis,
    int maxBatch,
    int maxInFlight,
    CircuitBreaker.Settings breaker,
    long connectTimeoutMillis) {

  /** Maximum of requests in one round trip, during which Redis serves no other client. */
  public static final int DEFAULT_MAX_BATCH = 64;

  /** Round trips in flight on a connection: one is executed while the next is sent. */
  public static final int DEFAULT_MAX_IN_FLIGHT = 2;

  private static final long DEFAULT_DEADLINE_MILLIS = 1_000;
  private static final long DEFAULT_LEASE_DEADLINE_MILLIS = 2_000;
  private static final long DEFAULT_CONNECT_TIMEOUT_MILLIS = 2_000;

  /**
   * Matches everything before the last host, in a Cluster including earlier nodes: a password may
   * contain colons, commas and at signs.
   */
  private static final Pattern LOGIN = Pattern.compile("://.*@");

  /** Checks the ranges. */
  public RedisSettings {
    check("deadlineMillis", deadlineMillis);
    check("leaseDeadlineMillis", leaseDeadlineMillis);
    check("maxBatch", maxBatch);
    check("maxInFlight", maxInFlight);
    check("connectTimeoutMillis", connectTimeoutMillis);
    if (maxBatch > 1000) { // while a script runs, Redis serves no other client
      throw new IllegalArgumentException("maxBatch must be at most 1000, was " + maxBatch);
    }
  }

  /**
   * Returns the settings that the service has by default: keys begin with {@code throttlekit:}; an
   * acquire may take 1 s, a lease and opening a connection 2 s.
   *
   * @param url of a single Redis or of Sentinels; for a Cluster, {@link #ofCluster}
   */
  public static RedisSettings of(String url) {
    return of(url, false);
  }

  /**
   * Returns the settings for a Cluster, otherwise as {@link #of}.
   *
   * @param urls of some of its nodes, separated by commas
   */
  public static RedisSettings ofCluster(String urls) {
    return of(urls, true);
  }

  private static RedisSettings of(String url, boolean cluster) {
    return new RedisSettings(
        url,
        cluster,
        Access.DEFAULT,
        DEFAULT_DEADLINE_MILLIS,
        DEFAULT_LEASE_DEADLINE_MILLIS,
        DEFAULT_MAX_BATCH,
        DEFAULT_MAX_IN_FLIGHT,
        CircuitBreaker.Settings.DEFAULT,
        DEFAULT_CONNECT_TIMEOUT_MILLIS);
  }

  /**
   * Returns these settings with another deadline of acquires, peeks, resets, leases and returns.
   *
   * @param deadline from 1 ms
   */
  public RedisSettings withDeadline(Duration deadline) {
    return new RedisSettings(
        url,
        cluster,
        access,
        deadline.toMillis(),
        deadline.toMillis(),
        maxBatch,
        maxInFlight,
        breaker,
        connectTimeoutMillis);
  }

  /** Returns the settings without the passwords of the URL and the access. */
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

  /**
   * The access to a Redis, besides its URL. Its text shows no password.
   *
   * @param keyPrefix prefix of every key; processes with the same prefix share counters. No braces,
   *     which would put all keys into one slot of a Cluster
   * @param tls verification and identity for TLS, if the URL uses it; absent for Java's defaults
   * @param sentinelUser user name for Sentinels; empty for the default user
   * @param sentinelPassword empty if Sentinels require none
   */
  public record Access(
      String keyPrefix, @Nullable Tls tls, String sentinelUser, String sentinelPassword) {
    /** Prefix of the keys unless another is set. */
    public static final String DEFAULT_KEY_PREFIX = "throttlekit:";

    /** The default prefix, Java's defaults for TLS, and no login for Sentinels. */
    public static final Access DEFAULT = new Access(DEFAULT_KEY_PREFIX, null, "", "");

    /** Checks the prefix. */
    public Access {
      if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
        throw new IllegalArgumentException("a key prefix has no braces, was " + keyPrefix);
      }
    }

    /**
     * TLS settings.
     *
     * @param ca PEM certificates that must have signed the server's; absent for Java's
     * @param identity certificate of this process; absent for none
     * @param verifyHost whether the server's certificate has to carry its host name
     */
    public record Tls(@Nullable Path ca, @Nullable Identity identity, boolean verifyHost) {

      @Override
      public String toString() {
        return "Tls[ca=" + ca + ", verifyHost=" + verifyHost + "]";
      }
    }

    /** A certificate with its key, which is read for each connection. */
    @FunctionalInterface
    public interface Identity {

      /**
       * Reads both.
       *
       * @throws IOException whose message names the faulty file and the reason
       */
      KeyStore.PrivateKeyEntry read() throws IOException;
    }

    @Override
    public String toString() {
      return "Access[keyPrefix=" + keyPrefix + ", tls=" + tls + "]";
    }
  }
}
