package io.throttlekit.postgres;

import io.throttlekit.federation.BudgetReturn;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A return of units of a budget in one transaction. */
final class ReturnTransaction {
  private static final String IS_KNOWN =
      """
      SELECT EXISTS
        (SELECT FROM returns WHERE budget = ? AND window_end_millis = ? AND name = ?);
      """;
  private static final String WRITE =
      """
      UPDATE parties SET clock_millis = ? WHERE name = ?;
      INSERT INTO returns (budget, window_end_millis, name) VALUES (?, ?, ?);
      """
          + BudgetRows.SET_LEASED;

  private final Session session;
  private final Epochs epochs;
  private final BudgetReturn units;
  private final byte[] party;
  private final byte[] budget;
  private final byte[] name;

  ReturnTransaction(Session session, Epochs epochs, BudgetReturn units) {
    this.session = session;
    this.epochs = epochs;
    this.units = units;
    this.party = Names.of(units.budget().party());
    this.budget = Names.of(units.budget().key());
    this.name = Names.of(units.region(), units.id());
  }

  boolean run() throws SQLException {
    long end = units.windowEndMillis();
    long now;
    boolean known;
    BudgetRows.Window window;
    try (PreparedStatement sql =
        session.prepare(
            BudgetRows.LOCK_PARTY + BudgetRows.clocks(epochs) + IS_KNOWN + BudgetRows.WINDOWS,
            party,
            party,
            budget,
            end,
            name,
            budget)) {
      sql.execute();
      try (ResultSet row = Session.rowsOf(sql)) {
        row.next();
        // A clock that steps back must not reopen an ended window.
        now = Math.max(row.getLong(1), session.now(row.getLong(2)));
        var _ = epochs.lossOf(session, row, 3);
      }
      try (ResultSet row = Session.rowsOf(sql)) {
        row.next();
        known = row.getBoolean(1);
      }
      window = BudgetRows.window(sql, end);
    }
    boolean lasts = window.leased() != BudgetRows.NO_WINDOW && end > now;
    if (lasts && !known) {
      write(now, window);
    } else {
      session.rollBack();
    }
    return lasts;
  }

  private void write(long now, BudgetRows.Window window) throws SQLException {
    long end = units.windowEndMillis();
    long left = Math.max(0, window.leased() - units.units());
    @Nullable Array calls = window.calls().column(session);
    session.commit(WRITE, now, party, budget, end, name, budget, end, left, calls, window.leased());
  }
}
