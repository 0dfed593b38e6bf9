package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.postgres.Session.SqlFunction;
import io.throttlekit.store.ExternalStore;
import io.throttlekit.store.StoreListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store in PostgreSQL. Runs transactions on a pool of connections, each on a virtual thread.
 *
 * <p>A transaction is retried a few times after a conflict with another one, and after its
 * connection was lost before its commit, while its caller waits. After that it may be committed, so
 * it is not retried. Thread-safe and non-blocking.
 */
class Database implements ExternalStore {
  /**
   * The most attempts of a transaction. A conflict rarely repeats, because rows are locked in one
   * order; one that lasts must not hold a connection until the deadline.
   */
  static final int ATTEMPTS = 8;

  private final PostgresSettings settings;
  private final Pool pool;
  private final Schema schema;
  private final @Nullable Epochs epochs;
  private final Calls calls;
  private final StoreListener listener;
  private final @Nullable TimeSource testClock;
  private final Garbage garbage;
  private final CompletionStage<?> ended;

  /**
   * The surroundings of all transactions.
   *
   * @param testClock replaces the server's clock in tests; else null
   */
  record Surroundings(
      TimeSource time, Scheduler timer, StoreListener listener, @Nullable TimeSource testClock) {}

  /**
   * The work of a transaction.
   *
   * @param <R> a request of it
   */
  @FunctionalInterface
  interface Transaction<R> {
    List<Supplier<?>> answer(Session session, List<R> requests) throws SQLException;
  }

  /**
   * Creates a pool without connections.
   *
   * @param durable whether commits wait for the disk
   * @param epochs of the transactions' tables; null if their loss does no harm
   * @param expired rows to delete from time to time
   */
  Database(
      PostgresSettings settings,
      boolean durable,
      @Nullable Epochs epochs,
      List<Garbage.Kind> expired,
      Surroundings around) {
    this.settings = settings;
    this.schema = new Schema(settings.schema(), settings.counters() == Durability.UNLOGGED);
    this.epochs = epochs;
    this.listener = around.listener();
    this.testClock = around.testClock();
    this.pool = new Pool(settings, durable, around.time(), listener);
    this.calls = new Calls(settings, around.time(), around.timer(), listener);
    this.ended = calls.ended().thenRunAsync(pool::close, Thread::startVirtualThread);
    long every = settings.collectEveryMillis();
    this.garbage = new Garbage(this, around.timer(), listener, every, expired);
    garbage.start();
  }

  @Override
  public final CompletionStage<?> ready() {
    return CompletableFuture.completedFuture(true);
  }

  /**
   * Runs a transaction.
   *
   * @param deadline at which the stage fails
   */
  final <T> CompletionStage<T> call(Deadline deadline, SqlFunction<Session, T> work) {
    return call(deadline, Turns.NO_TENANT, work);
  }

  /**
   * Runs a transaction that waits at a place for its turn.
   *
   * @param deadline at which the stage fails
   */
  final <T> CompletionStage<T> call(
      Deadline deadline, Turns.Place place, SqlFunction<Session, T> work) {
    return calls.submit(deadline, place, isAwaited -> inTransaction(work, isAwaited));
  }

  /**
   * Makes a call, possibly in one transaction with others of its counter.
   *
   * @param deadline at which the stage fails
   * @param waitNanos how long the caller waits, if that is less
   * @param work answers requests in a transaction, in their order; an answer may throw
   * @param <T> of its answer to such a request
   */
  final <R, T> CompletionStage<T> call(
      Deadline deadline, long waitNanos, Turns.Place place, R request, Transaction<R> work) {
    return calls.submit(
        deadline,
        waitNanos,
        place,
        request,
        (requests, isAwaited) ->
            inTransaction(session -> work.answer(session, requests), isAwaited));
  }

  /** Returns the server's clock. */
  public final CompletionStage<Long> health() {
    return call(Deadline.LEASE, Session::readClock);
  }

  /** Returns whether calls fail at once, except for a few probes. */
  final boolean isDown() {
    return calls.isDown();
  }

  @Override
  public void close() {
    garbage.stop();
    calls.close();
  }

  @Override
  public final CompletionStage<?> ended() {
    return ended;
  }

  private <T> T inTransaction(SqlFunction<Session, T> work, BooleanSupplier isAwaited)
      throws SQLException {
    for (int attempt = 1; ; attempt++) {
      Session session = null;
      try (Connection connection = pool.connection()) {
        session = new Session(connection, testClock);
        return inTransaction(work, connection, session);
      } catch (SQLException e) {
        boolean again = session != null && mayBeTriedAgain(e, session);
        if (!again || attempt == ATTEMPTS || !isAwaited.getAsBoolean()) {
          throw session == null || !session.mayBeCommitted() ? new Failures.NotCounted(e) : e;
        }
        listener.triedAgain();
      }
    }
  }

  /** Returns whether nothing was committed and a retry may succeed. */
  private boolean mayBeTriedAgain(SQLException failure, Session session) {
    if (Failures.isServerGone(failure)) {
      boolean forgotten = pool.forget(); // the other connections lead to the same server
      return !session.mayBeCommitted() && (forgotten || !Failures.isReadOnly(failure));
    }
    if (Failures.isSchemaOlder(failure)) {
      schema.forget();
    }
    return Failures.mayBeTriedAgain(failure);
  }

  private <T> T inTransaction(SqlFunction<Session, T> work, Connection connection, Session session)
      throws SQLException {
    // A server that vanished without closing the connection must not block the thread.
    connection.setNetworkTimeout(Runnable::run, Math.toIntExact(settings.leaseDeadlineMillis()));
    schema.ensure(connection);
    if (epochs != null) {
      epochs.readOrigin(connection);
    }
    for (int attempt = 1; ; attempt++) {
      try {
        return work.apply(session);
      } catch (TenantRows.Unreadable e) {
        throw e.reason;
      } catch (Epochs.Unknown e) {
        connection.rollback();
        if (epochs == null || attempt == ATTEMPTS) {
          throw new SQLException("the epoch changed in every attempt", e);
        }
        epochs.settle(connection, session);
      }
    }
  }
}
