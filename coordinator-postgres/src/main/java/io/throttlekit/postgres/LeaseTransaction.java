package io.throttlekit.postgres;

import io.throttlekit.DataLoss;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Grant;
import io.throttlekit.store.Terms;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A lease of a budget, as one transaction. */
final class LeaseTransaction {
  private static final String WRITE =
      """
      UPDATE parties SET clock_millis = ? WHERE name = ?;
      INSERT INTO agreements (party, region, budgets, until_millis) VALUES (?, ?, ?, ?)
        ON CONFLICT (party, region) DO UPDATE
        SET budgets = excluded.budgets, until_millis = excluded.until_millis;
      """
          + BudgetRows.SET_LEASED
          + Session.COMMIT;

  private final Session session;
  private final Epochs epochs;
  private final BudgetLease lease;
  private final Budget budget;
  private final byte[] party;
  private final byte[] name;
  private final List<Long> budgets = new ArrayList<>();

  private long before;
  private long now;
  private long loss;
  private long wanted;
  private long leased;

  /** Until when this region's terms stand, and whether they are these. */
  private long until;

  private boolean agreed;

  LeaseTransaction(Session session, Epochs epochs, BudgetLease lease) {
    this.session = session;
    this.epochs = epochs;
    this.lease = lease;
    this.budget = lease.budget();
    this.party = Names.of(budget.party());
    this.name = Names.of(budget.key());
    for (FixedWindow each : budget.terms().budgets()) {
      budgets.add(each.limit());
      budgets.add(each.windowMillis());
    }
  }

  Grant run() throws SQLException {
    long length = budget.window().windowMillis();
    try (PreparedStatement sql =
        session.prepare(
            BudgetRows.LOCK_PARTY
                + BudgetRows.clocks(epochs)
                + "SELECT region, budgets, until_millis FROM agreements WHERE party = ?"
                + " ORDER BY region;"
                + BudgetRows.WINDOWS)) {
      sql.setBytes(1, party);
      sql.setBytes(2, party);
      sql.setBytes(3, party);
      sql.setBytes(4, name);
      sql.execute();
      readClocks(sql);
      long current = now - Math.floorMod(now, length) + length;
      wanted = lease.windowEndMillis() == BudgetLease.CURRENT ? current : lease.windowEndMillis();
      boolean offered = wanted == current || wanted == current + length;
      if (!offered || isDenied(length)) {
        session.rollBack();
        return new Grant(0, wanted, now, 0);
      }
      readAgreements(sql);
      leased = BudgetRows.leased(sql, wanted);
    }
    long left = Math.max(0, budget.window().limit() - Math.max(0, leased));
    long units = Math.min(lease.units(), left);
    boolean rolled = Math.floorDiv(before, length) != Math.floorDiv(now, length);
    if (units > 0 || rolled || !agreed || until < wanted) {
      write(units);
    } else {
      session.rollBack();
    }
    return new Grant(units, wanted, now, left - units);
  }

  private void readClocks(PreparedStatement sql) throws SQLException {
    try (ResultSet row = Session.rowsOf(sql)) {
      row.next();
      before = row.getLong(1);
      now = Math.max(before, session.now(row.getLong(2)));
      loss = epochs.lossOf(row, 3);
    }
  }

  /** Whether the window had begun, or could be leased, before what was leased of it was lost. */
  private boolean isDenied(long length) {
    return lease.onDataLoss() == DataLoss.DENY
        && loss > 0
        && wanted <= loss - Math.floorMod(loss, length) + 2 * length;
  }

  /** Holds the region to what the others have said, each of them until its last window ends. */
  private void readAgreements(PreparedStatement sql) throws SQLException {
    try (ResultSet rows = Session.rowsOf(sql)) {
      while (rows.next()) {
        String region = rows.getString(1);
        List<Long> said = List.of((Long[]) rows.getArray(2).getArray());
        long saidUntil = rows.getLong(3);
        boolean same = said.equals(budgets);
        if (region.equals(lease.region())) {
          agreed = same;
          until = saidUntil;
        } else if (!same && saidUntil > now) {
          throw new TermsMismatchException(
              lease.region(), budget.terms().inWords(), region, terms(said).inWords());
        }
      }
    }
  }

  private Terms terms(List<Long> said) {
    List<FixedWindow> windows = new ArrayList<>();
    for (int i = 0; i < said.size(); i += 2) {
      windows.add(new FixedWindow(said.get(i), said.get(i + 1)));
    }
    return new Terms(budget.terms().scope(), windows);
  }

  private void write(long units) throws SQLException {
    try (PreparedStatement sql = session.prepare(WRITE)) {
      sql.setLong(1, now);
      sql.setBytes(2, party);
      sql.setBytes(3, party);
      sql.setString(4, lease.region());
      sql.setArray(5, session.numbers(budgets));
      sql.setLong(6, Math.max(until, wanted));
      sql.setBytes(7, name);
      sql.setLong(8, wanted);
      sql.setLong(9, Math.max(0, leased) + units);
      sql.setLong(10, leased);
      sql.execute();
    }
  }
}
