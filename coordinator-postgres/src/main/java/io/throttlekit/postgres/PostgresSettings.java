package io.throttlekit.postgres;

import io.throttlekit.store.CircuitBreaker;
import java.util.regex.Pattern;

/**
 * The address of a PostgreSQL and the settings of calls to it. Its text shows no password.
 *
 * @param url as for the JDBC driver: {@code jdbc:postgresql://host[:port][,host…]/database} with
 *     its options, among them those of TLS ({@code sslmode=verify-full&sslrootcert=…}) and {@code
 *     targetServerType=primary} for several hosts
 * @param user the role; empty for that of the URL or the driver
 * @param password empty for none
 * @param schema the schema of the tables: lower-case letters, digits and {@code _}, at most 63
 * @param counters the durability of counters
 * @param connections the most calls at once, from 1, each on a connection of its own
 * @param deadlineMillis the longest that an acquire, peek or reset of counters may take, from 1
 * @param leaseDeadlineMillis the longest that any other call may take, from 1; a connection without
 *     any answer for this time is replaced, and a statement or an idle transaction is ended
 * @param breaker when calls fail at once, and the interval of probes then
 * @param connectTimeoutMillis the longest that a call waits for a connection, from 250
 * @param collectEveryMillis the interval at which expired rows are deleted, in ms, from 1
 */
public record PostgresSettings(
    String url,
    String user,
    String password,
    String schema,
    Durability counters,
    int connections,
    long deadlineMillis,
    long leaseDeadlineMillis,
    CircuitBreaker.Settings breaker,
    long connectTimeoutMillis,
    long collectEveryMillis) {
  /** The default schema. */
  public static final String DEFAULT_SCHEMA = "throttlekit";

  /** Interval between deletions of expired rows, so that each deletes few. */
  public static final long DEFAULT_COLLECT_EVERY_MILLIS = 10_000;

  private static final int DEFAULT_CONNECTIONS = 8;
  private static final long DEFAULT_DEADLINE_MILLIS = 1_000;
  private static final long DEFAULT_LEASE_DEADLINE_MILLIS = 2_000;
  private static final long DEFAULT_CONNECT_TIMEOUT_MILLIS = 2_000;

  private static final Pattern NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  /** The shortest timeout that Hikari accepts. */
  private static final long MIN_CONNECT_MILLIS = 250;

  /** Checks the ranges. */
  public PostgresSettings {
    if (!url.startsWith("jdbc:postgresql:")) {
      throw new IllegalArgumentException("the URL must begin with jdbc:postgresql:");
    }
    if (!NAME.matcher(schema).matches()) {
      throw new IllegalArgumentException(
          "schema must be of lower-case letters, digits and _, was " + schema);
    }
    check("connections", connections, 1);
    check("deadlineMillis", deadlineMillis, 1);
    check("leaseDeadlineMillis", leaseDeadlineMillis, 1);
    check("connectTimeoutMillis", connectTimeoutMillis, MIN_CONNECT_MILLIS);
    check("collectEveryMillis", collectEveryMillis, 1);
  }

  /**
   * Returns the settings that the service has by default: the schema {@value #DEFAULT_SCHEMA},
   * synchronous commits; an acquire may take 1 s, any other call 2 s.
   *
   * @param user the role; empty for the role of the URL or of the driver
   * @param password empty for none
   */
  public static PostgresSettings of(String url, String user, String password) {
    return new PostgresSettings(
        url,
        user,
        password,
        DEFAULT_SCHEMA,
        Durability.SYNCHRONOUS,
        DEFAULT_CONNECTIONS,
        DEFAULT_DEADLINE_MILLIS,
        DEFAULT_LEASE_DEADLINE_MILLIS,
        CircuitBreaker.Settings.DEFAULT,
        DEFAULT_CONNECT_TIMEOUT_MILLIS,
        DEFAULT_COLLECT_EVERY_MILLIS);
  }

  /** Returns the same with a lease deadline of at most so much. */
  PostgresSettings withLeaseDeadline(long atMostMillis) {
    return new PostgresSettings(
        url,
        user,
        password,
        schema,
        counters,
        connections,
        deadlineMillis,
        Math.min(leaseDeadlineMillis, atMostMillis),
        breaker,
        connectTimeoutMillis,
        collectEveryMillis);
  }

  @Override
  public String toString() {
    int options = url.indexOf('?');
    return "PostgresSettings[url=%s, user=%s, schema=%s, counters=%s, connections=%d]"
        .formatted(
            options < 0 ? url : url.substring(0, options), user, schema, counters, connections);
  }

  private static void check(String what, long value, long least) {
    if (value < least) {
      throw new IllegalArgumentException(what + " must be at least " + least + ", was " + value);
    }
  }
}
