package io.throttlekit.postgres;

import io.throttlekit.DataLoss;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.store.Grant;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A lease of a budget in one transaction. */
final class LeaseTransaction {
  private static final String WRITE =
      """
      UPDATE parties SET clock_millis = ? WHERE name = ?;
      """
          + Agreements.WRITE
          + BudgetRows.SET_LEASED;

  private final Session session;
  private final Epochs epochs;
  private final BudgetLease lease;
  private final Budget budget;
  private final byte[] party;
  private final byte[] name;

  private long before;
  private long now;
  private long loss;
  private long requestedEnd;

  LeaseTransaction(Session session, Epochs epochs, BudgetLease lease) {
    this.session = session;
    this.epochs = epochs;
    this.lease = lease;
    this.budget = lease.budget();
    this.party = Names.of(budget.party());
    this.name = Names.of(budget.key());
  }

  Grant run() throws SQLException {
    long length = budget.window().windowMillis();
    Agreements agreements;
    BudgetRows.Window window;
    try (PreparedStatement sql =
        session.prepare(
            BudgetRows.LOCK_PARTY
                + BudgetRows.clocks(epochs)
                + Agreements.READ
                + BudgetRows.WINDOWS,
            party,
            party,
            party,
            name)) {
      sql.execute();
      readClocks(sql);
      long current = now - Math.floorMod(now, length) + length;
      requestedEnd =
          lease.windowEndMillis() == BudgetLease.CURRENT ? current : lease.windowEndMillis();
      boolean offered = requestedEnd == current || requestedEnd == current + length;
      if (!offered || isDenied(length)) {
        session.rollBack();
        return new Grant(0, requestedEnd, now, 0);
      }
      agreements = Agreements.read(sql, lease, now);
      window = BudgetRows.window(sql, requestedEnd);
    }
    TermsMismatchException mismatch = agreements.mismatch();
    if (mismatch != null) {
      refuse(agreements);
      throw mismatch;
    }
    OptionalLong answered = window.calls().answerTo(lease.id());
    // The limit may be lower now; NO_WINDOW is below 0.
    long left = Math.max(0, budget.window().limit() - Math.max(0, window.leased()));
    long units = answered.isPresent() ? 0 : Math.min(lease.units(), left);
    long answer = answered.orElse(units);
    boolean rolled = Math.floorDiv(before, length) != Math.floorDiv(now, length);
    // A repeated call is written again: the commit that counted it may have given up waiting for
    // its standby, and this commit waits for both.
    if (units > 0 || lease.id() != null || rolled || !agreements.has(requestedEnd)) {
      write(window, units, answer, agreements);
    } else {
      session.rollBack();
    }
    return new Grant(answer, requestedEnd, now, left - units);
  }

  private void readClocks(PreparedStatement sql) throws SQLException {
    try (ResultSet row = Session.rowsOf(sql)) {
      row.next();
      before = row.getLong(1);
      // A clock that steps back must not reopen an ended window.
      now = Math.max(before, session.now(row.getLong(2)));
      loss = epochs.lossOf(session, row, 3);
    }
  }

  /** Returns whether the window had begun, or could be leased, when its leases were lost. */
  private boolean isDenied(long length) {
    return lease.onDataLoss() == DataLoss.DENY
        && loss > 0
        && requestedEnd <= loss - Math.floorMod(loss, length) + 2 * length;
  }

  /** Records the refused terms, to which the other regions may move. */
  private void refuse(Agreements agreements) throws SQLException {
    if (!agreements.changesRow()) {
      session.rollBack();
      return;
    }
    Array budgets = session.numbers(agreements.budgets());
    session.commit(Agreements.SET_REQUESTED, budgets, party, lease.region());
  }

  /**
   * Writes a grant and commits.
   *
   * @param units to count now
   * @param answer units of the call's answer, from now or before
   */
  private void write(BudgetRows.Window window, long units, long answer, Agreements agreements)
      throws SQLException {
    Array budgets = session.numbers(agreements.budgets());
    List<@Nullable Object> values = new ArrayList<>();
    if (agreements.moves()) {
      Collections.addAll(values, budgets, party, budgets);
    }
    Collections.addAll(values, now, party, party);
    Collections.addAll(values, lease.region(), budgets, agreements.until(requestedEnd));
    Collections.addAll(values, name, requestedEnd, Math.max(0, window.leased()) + units);
    Collections.addAll(
        values, window.calls().with(lease.id(), answer).column(session), window.leased());
    String statements = agreements.moves() ? Agreements.MOVE + WRITE : WRITE;
    session.commit(statements, values.toArray());
  }
}
