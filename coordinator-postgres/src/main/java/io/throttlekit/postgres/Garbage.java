package io.throttlekit.postgres;

import io.throttlekit.store.StoreListener;
import io.throttlekit.tier.Timer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Deletes expired rows at intervals, in small batches.
 *
 * <p>Locked rows are skipped until the next run, so several processes can delete at once.
 * Thread-safe.
 */
final class Garbage {
  /** The most rows of one transaction: a longer one would hold its locks for long. */
  static final int BATCH = 500;

  /** The most transactions of one run for each kind of row. */
  static final int BATCHES = 40;

  /** The time for which rows are kept after they have expired, for a clock that steps back. */
  static final long SLACK_MILLIS = 60_000;

  private final Transactions transactions;
  private final Timer timer;
  private final StoreListener listener;
  private final long everyNanos;
  private final List<Kind> kinds;
  private volatile boolean stopped;

  /**
   * A kind of rows to delete.
   *
   * @param key the columns of its primary key
   * @param over the condition of expired rows, in SQL with {@code ?} for the time
   * @param slackMillis the time for which they are kept after that
   */
  record Kind(String table, String key, String over, long slackMillis) {
    String delete() {
      return """
      DELETE FROM %1$s WHERE (%2$s) IN
        (SELECT %2$s FROM %1$s WHERE %3$s LIMIT %4$d FOR UPDATE SKIP LOCKED)\
      """
          .formatted(table, key, over, BATCH);
    }
  }

  /** Runs the transactions: {@link Database#call}. */
  @FunctionalInterface
  interface Transactions {
    CompletionStage<Integer> call(Deadline deadline, Database.Work<Integer> work);
  }

  Garbage(
      Transactions transactions,
      Timer timer,
      StoreListener listener,
      long everyMillis,
      List<Kind> kinds) {
    this.transactions = transactions;
    this.timer = timer;
    this.listener = listener;
    this.everyNanos = TimeUnit.MILLISECONDS.toNanos(everyMillis);
    this.kinds = kinds;
  }

  void start() {
    later();
  }

  void stop() {
    stopped = true;
  }

  private void later() {
    if (!stopped) {
      timer.runAfter(everyNanos, () -> collect(0, 1));
    }
  }

  private void collect(int kind, int batch) {
    if (stopped) {
      return;
    }
    if (kind == kinds.size()) {
      later();
      return;
    }
    var _ =
        transactions
            .call(Deadline.LEASE, session -> delete(session, kinds.get(kind)))
            .whenComplete((deleted, failure) -> {
              if (failure != null) {
                // The server may be down: no further attempt before the next run.
                later();
              } else if (deleted == BATCH && batch < BATCHES) {
                collect(kind, batch + 1);
              } else {
                collect(kind + 1, 1);
              }
            });
  }

  private int delete(Session session, Kind kind) throws SQLException {
    long now;
    try (PreparedStatement clock = session.prepare("SELECT " + Session.CLOCK);
        ResultSet row = clock.executeQuery()) {
      row.next();
      now = session.now(row.getLong(1));
    }
    try (PreparedStatement delete = session.prepareLast(kind.delete() + ";")) {
      delete.setLong(1, now - kind.slackMillis());
      delete.execute();
      int rows = delete.getUpdateCount();
      if (rows > 0) {
        listener.collected(rows);
      }
      return rows;
    }
  }
}
