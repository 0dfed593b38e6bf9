package io.throttlekit.postgres;

import io.throttlekit.store.CircuitBreaker;
import java.util.regex.Pattern;

/**
 * Where a PostgreSQL is and how to deal with it; its text shows no password.
 *
 * @param url as the JDBC driver has it: {@code jdbc:postgresql://host[:port][,host…]/database} with
 *     its options, among them those of TLS ({@code sslmode=verify-full&sslrootcert=…}) and {@code
 *     targetServerType=primary} for several hosts
 * @param user the role; empty for what the URL or the driver says
 * @param password empty for none
 * @param schema where the tables are: lower-case letters, digits and {@code _}, 63 at most
 * @param counters how durable counters are
 * @param connections how many calls are under way at most, from 1, each on a connection of its own
 * @param deadlineMillis how long an acquire, peek or reset of counters may take, from 1
 * @param leaseDeadlineMillis how long everything else may take, from 1; a connection that answers
 *     nothing for so long is made anew, and a statement or an idle transaction ends then
 * @param breaker when calls fail at once, and how often it is then tried again
 * @param connectTimeoutMillis how long a call waits for a connection, from 250
 * @param collectEveryMillis how often rows that are over are deleted, in ms, from 1
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
  /** The schema unless another is named. */
  public static final String DEFAULT_SCHEMA = "throttlekit";

  private static final Pattern NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  private static final long LEAST_CONNECT_MILLIS = 250;

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
    check("connectTimeoutMillis", connectTimeoutMillis, LEAST_CONNECT_MILLIS);
    check("collectEveryMillis", collectEveryMillis, 1);
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
