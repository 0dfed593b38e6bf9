package io.throttlekit.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Statements and columns that transactions on budgets share. */
final class BudgetRows {
  /**
   * Locks the row of a party, and creates it if needed. Later statements of the same round trip,
   * including the one that reads the clock, run under the lock.
   */
  static final String LOCK_PARTY =
      """
      INSERT INTO parties (name) VALUES (?)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name WHERE false;
      """;

  /** Reads the newest windows of a budget: only the current and the next one can be leased. */
  static final String WINDOWS =
      """
      SELECT window_end_millis, leased, calls FROM windows WHERE budget = ?
        ORDER BY window_end_millis DESC LIMIT 2;
      """;

  /**
   * Sets the leased units of a window, and its calls (budget, end, leased, calls, leased before). A
   * budget changes under the lock of its party. If two parties share a budget, the second
   * transaction finds it changed and fails with a null in a NOT NULL column, and is retried.
   */
  static final String SET_LEASED =
      """
      INSERT INTO windows AS w (budget, window_end_millis, leased, calls) VALUES (?, ?, ?, ?)
        ON CONFLICT (budget, window_end_millis) DO UPDATE
        SET leased = CASE WHEN w.leased = ? THEN excluded.leased END, calls = excluded.calls;
      """;

  /** The leased units of a window without a row. */
  static final long NO_WINDOW = -1;

  /**
   * A window of a budget.
   *
   * @param leased units leased and not returned, or {@link #NO_WINDOW}
   */
  record Window(long leased, AnsweredCalls calls) {}

  private BudgetRows() {}

  /**
   * Returns a query of the newest clock that the party has seen, the server's clock, and the epoch.
   */
  static String clocks(Epochs epochs) {
    return epochs.after("(SELECT clock_millis FROM parties WHERE name = ?), " + Session.CLOCK)
        + ";";
  }

  /** Returns the window with this end. */
  static Window window(PreparedStatement sql, long windowEndMillis) throws SQLException {
    try (ResultSet rows = Session.rowsOf(sql)) {
      while (rows.next()) {
        if (rows.getLong(1) == windowEndMillis) {
          return new Window(rows.getLong(2), AnsweredCalls.of(rows.getArray(3), windowEndMillis));
        }
      }
    }
    return new Window(NO_WINDOW, AnsweredCalls.of(null, windowEndMillis));
  }
}
