package io.throttlekit.postgres;

import com.zaxxer.hikari.pool.HikariPool;
import io.throttlekit.store.RootCause;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The meaning of errors of PostgreSQL and its driver. */
final class Failures {
  /**
   * Conflicts with another transaction: a serialization failure, a deadlock, a changed window (a
   * null in a NOT NULL column).
   */
  private static final Set<String> CONFLICTS = Set.of("40001", "40P01", "23502");

  /** The table, a column or the schema does not exist: dropped, or not restored yet. */
  private static final Set<String> OLDER_SCHEMA = Set.of("42P01", "42703", "3F000");

  /** Beginnings of states: no connection, no authorization, too many connections, a shutdown. */
  private static final Set<String> CONNECTION = Set.of("08", "28", "53", "57P");

  private static final String READ_ONLY = "25006"; // read_only_sql_transaction
  private static final String LOCK_TIMEOUT = "55P03"; // lock_not_available

  /** Wraps the failure of a call before its commit, which therefore has no effect. */
  static final class NotCounted extends SQLException {
    private static final long serialVersionUID = 1L;

    NotCounted(SQLException failure) {
      super(failure.getMessage(), failure.getSQLState(), failure.getErrorCode(), failure);
    }
  }

  private Failures() {}

  /**
   * Returns whether the server reported that nothing was committed and a retry may succeed. Never
   * for an error of the connection, which may have been lost during the commit.
   */
  static boolean mayBeTriedAgain(SQLException failure) {
    return CONFLICTS.contains(state(failure)) || isSchemaOlder(failure);
  }

  static boolean isSchemaOlder(SQLException failure) {
    return OLDER_SCHEMA.contains(state(failure));
  }

  static Failure kind(@Nullable Throwable failure) {
    return RootCause.causes(failure).anyMatch(Failures::isOfConnection)
        ? Failure.CONNECTION
        : Failure.ERROR;
  }

  private static boolean isOfConnection(Throwable cause) {
    return cause instanceof IOException
        || cause instanceof SQLTransientConnectionException
        || cause instanceof HikariPool.PoolInitializationException
        || (cause instanceof SQLException known
            && CONNECTION.stream().anyMatch(state(known)::startsWith));
  }

  /** Returns whether the server or the network closed a connection; false for a timeout. */
  static boolean isServerGone(SQLException failure) {
    String state = state(failure);
    return state.startsWith("57P")
        || isReadOnly(failure) // a standby: it was a primary, or the address leads to it now
        || (state.startsWith("08") && !(failure.getCause() instanceof SocketTimeoutException));
  }

  static boolean isReadOnly(SQLException failure) {
    return state(failure).equals(READ_ONLY);
  }

  /** Returns whether another transaction held a lock for too long. */
  static boolean isLockTimeout(Exception failure) {
    return failure instanceof SQLException known && state(known).equals(LOCK_TIMEOUT);
  }

  static StoreException describe(Throwable failure) {
    if (failure instanceof StoreException known) {
      return known;
    }
    if (failure instanceof NotCounted) {
      return StoreException.notSent("PostgreSQL failed: " + RootCause.message(failure));
    }
    String counted =
        kind(failure) == Failure.CONNECTION ? "; the request may have been counted" : "";
    return new StoreException(
        "PostgreSQL failed: " + RootCause.message(failure) + counted, failure);
  }

  private static String state(SQLException failure) {
    String state = failure.getSQLState();
    return state == null ? "" : state;
  }
}
