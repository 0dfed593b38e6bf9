package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.store.StoreListener;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
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

  /** The most transactions of one run for each kind of row, so that each kind gets its turn. */
  static final int BATCHES = 40;

  /** The time for which rows are kept after they have expired, for a clock that steps back. */
  static final long SLACK_MILLIS = 60_000;

  private final Database database;
  private final Scheduler timer;
  private final StoreListener listener;
  private final long everyNanos;
  private final List<Kind> kinds;
  private volatile boolean stopped;

  /**
   * A kind of rows to delete.
   *
   * @param key the columns of its primary key
   * @param condition the condition of expired rows, in SQL with {@code ?} for the time
   * @param slackMillis the time for which they are kept after that
   */
  record Kind(String table, String key, String condition, long slackMillis) {
    String delete() {
      return """
      DELETE FROM %1$s WHERE (%2$s) IN
        (SELECT %2$s FROM %1$s WHERE %3$s LIMIT %4$d FOR UPDATE SKIP LOCKED)\
      """
          .formatted(table, key, condition, BATCH);
    }
  }

  Garbage(
      Database database,
      Scheduler timer,
      StoreListener listener,
      long everyMillis,
      List<Kind> kinds) {
    this.database = database;
    this.timer = timer;
    this.listener = listener;
    this.everyNanos = TimeUnit.MILLISECONDS.toNanos(everyMillis);
    this.kinds = kinds;
  }

  /** Schedules the next run. */
  void start() {
    if (!stopped) {
      timer.runAfter(everyNanos, () -> collect(0, 1));
    }
  }

  void stop() {
    stopped = true;
  }

  private void collect(int kind, int batch) {
    if (stopped) {
      return;
    }
    if (kind == kinds.size()) {
      start();
      return;
    }
    var _ =
        database
            .call(Deadline.LEASE, session -> delete(session, kinds.get(kind)))
            .whenComplete((deleted, failure) -> {
              if (failure != null) {
                // The server may be down: no further attempt before the next run.
                start();
              } else if (deleted == BATCH && batch < BATCHES) {
                collect(kind, batch + 1);
              } else {
                collect(kind + 1, 1);
              }
            });
  }

  private int delete(Session session, Kind kind) throws SQLException {
    long now = session.readClock();
    try (PreparedStatement delete =
        session.prepareLast(kind.delete() + ";", now - kind.slackMillis())) {
      delete.execute();
      int rows = delete.getUpdateCount();
      if (rows > 0) {
        listener.collected(rows);
      }
      return rows;
    }
  }
}
