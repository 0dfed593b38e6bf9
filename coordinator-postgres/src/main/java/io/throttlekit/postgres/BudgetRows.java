package io.throttlekit.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What transactions about budgets have in common. */
final class BudgetRows {
  /**
   * Locks the row of a party, which is made if need be. What follows in the same trip is read with
   * the lock; the clock, too.
   */
  static final String LOCK_PARTY =
      """
      INSERT INTO parties (name) VALUES (?)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name WHERE false;
      """;

  /** The newest windows of a budget: none but the last and the next are asked for. */
  static final String WINDOWS =
      """
      SELECT window_end_millis, leased, calls FROM windows WHERE budget = ?
        ORDER BY window_end_millis DESC LIMIT 2;
      """;

  /**
   * Sets what is leased of a window, and what calls were answered (budget, end, leased, calls,
   * leased before). A budget is changed under the lock of its party; if there are two parties that
   * both have it, whoever comes second finds it changed, and fails with a null where none may be,
   * to be tried again.
   */
  static final String SET_LEASED =
      """
      INSERT INTO windows AS w (budget, window_end_millis, leased, calls) VALUES (?, ?, ?, ?)
        ON CONFLICT (budget, window_end_millis) DO UPDATE
        SET leased = CASE WHEN w.leased = ? THEN excluded.leased END, calls = excluded.calls;
      """;

  /** In place of what is leased of a window that is not there. */
  static final long NO_WINDOW = -1;

  /**
   * A window of a budget.
   *
   * @param leased units out, or {@link #NO_WINDOW}
   */
  record Window(long leased, AnsweredCalls calls) {}

  private BudgetRows() {}

  /** The columns before the epoch's: the newest clock that the party has seen, and the server's. */
  static String clocks(Epochs epochs) {
    return epochs.after("(SELECT clock_millis FROM parties WHERE name = ?), " + Session.CLOCK)
        + ";";
  }

  /** The window that ends then. */
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
