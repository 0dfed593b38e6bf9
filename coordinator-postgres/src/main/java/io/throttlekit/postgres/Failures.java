package io.throttlekit.postgres;

import com.zaxxer.hikari.pool.HikariPool;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What errors of PostgreSQL and its driver mean. */
final class Failures {
  private static final int DEEPEST = 8;

  /** Another transaction was in the way: a serialization failure, a deadlock, a changed window. */
  private static final Set<String> IN_THE_WAY = Set.of("40001", "40P01", "23502");

  /** The table, a column of it, or the schema is not there: not any more, or not yet again. */
  private static final Set<String> OLDER_SCHEMA = Set.of("42P01", "42703", "3F000");

  private static final String READ_ONLY = "25006";

  /** Wraps the failure of a call that did not come to its commit, so it cannot have an effect. */
  static final class NotCounted extends SQLException {
    private static final long serialVersionUID = 1L;

    NotCounted(SQLException failure) {
      super(failure.getMessage(), failure.getSQLState(), failure.getErrorCode(), failure);
    }
  }

  private Failures() {}

  /**
   * Whether the server has said that nothing was committed, and the same may go well next time. An
   * error of a connection never says so: it may have broken at the commit.
   */
  static boolean mayBeTriedAgain(SQLException failure) {
    return IN_THE_WAY.contains(state(failure)) || isSchemaOlder(failure);
  }

  static boolean isSchemaOlder(SQLException failure) {
    return OLDER_SCHEMA.contains(state(failure));
  }

  static Failure kind(@Nullable Throwable failure) {
    Throwable cause = failure;
    for (int i = 0; i < DEEPEST && cause != null; i++) {
      if (cause instanceof IOException
          || cause instanceof SQLTransientConnectionException
          || cause instanceof HikariPool.PoolInitializationException
          || (cause instanceof SQLException known && isOfConnection(state(known)))) {
        return Failure.CONNECTION;
      }
      cause = cause.getCause();
    }
    return Failure.ERROR;
  }

  /** Whether the server, or the way to it, broke a connection; not when it is slow. */
  static boolean isServerGone(SQLException failure) {
    String state = state(failure);
    return state.startsWith("57P")
        || state.equals(READ_ONLY) // a standby: it was a primary, or an address leads to it now
        || (state.startsWith("08") && !(failure.getCause() instanceof SocketTimeoutException));
  }

  static StoreException inWords(Throwable failure) {
    if (failure instanceof StoreException known) {
      return known;
    }
    if (failure instanceof NotCounted) {
      return StoreException.notSent("PostgreSQL failed: " + innermost(failure));
    }
    String counted = kind(failure) == Failure.CONNECTION ? "; what was asked may be counted" : "";
    return new StoreException("PostgreSQL failed: " + innermost(failure) + counted, failure);
  }

  /** The innermost of the causes, which says what happened. */
  private static String innermost(Throwable failure) {
    Throwable innermost = failure;
    for (int i = 0; i < DEEPEST && innermost.getCause() != null; i++) {
      innermost = innermost.getCause();
    }
    String message = innermost.getMessage();
    return message == null ? innermost.toString() : message;
  }

  private static String state(SQLException failure) {
    String state = failure.getSQLState();
    return state == null ? "" : state;
  }

  /** Of connections (08), of who may have one (28), of too many (53), of the server's end (57P). */
  private static boolean isOfConnection(String state) {
    return state.startsWith("08")
        || state.startsWith("28")
        || state.startsWith("53")
        || state.startsWith("57P");
  }
}
