package io.throttlekit.postgres;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.store.LeaseGrant;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A transaction on a budget, under the lock of its party. */
final class BudgetTransaction {
  /**
   * Locks the row of a party, and creates it if needed. Later statements of the same round trip,
   * including the one that reads the clock, run under the lock.
   */
  private static final String LOCK_PARTY =
      """
      INSERT INTO parties (name) VALUES (?)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name WHERE false;
      """;

  /** Reads the newest windows of a budget: only the current and the next one can be leased. */
  private static final String WINDOWS =
      """
      SELECT window_end_millis, leased, calls FROM windows WHERE budget = ?
        ORDER BY window_end_millis DESC LIMIT 2;
      """;

  private static final String IS_RETURNED =
      """
      SELECT EXISTS
        (SELECT FROM returns WHERE budget = ? AND window_end_millis = ? AND name = ?);
      """;
  private static final String WRITE_CLOCK = "UPDATE parties SET clock_millis = ? WHERE name = ?;\n";
  private static final String WRITE_RETURN =
      "INSERT INTO returns (budget, window_end_millis, name) VALUES (?, ?, ?);\n";

  /**
   * Sets the leased units of a window, and its calls (budget, end, leased, calls, leased before). A
   * budget changes under the lock of its party. If two parties share a budget, the second
   * transaction finds it changed and fails with a null in a NOT NULL column, and is retried.
   */
  private static final String SET_LEASED =
      """
      INSERT INTO windows AS w (budget, window_end_millis, leased, calls) VALUES (?, ?, ?, ?)
        ON CONFLICT (budget, window_end_millis) DO UPDATE
        SET leased = CASE WHEN w.leased = ? THEN excluded.leased END, calls = excluded.calls;
      """;

  /** The leased units of a window without a row. */
  private static final long NO_WINDOW = -1;

  private final Session session;
  private final Epochs epochs;
  private final Budget budget;
  private final byte[] party;
  private final byte[] name;

  /** The newest clock that the party had seen before. */
  private long before;

  private long now;
  private long loss;

  /**
   * A window of a budget.
   *
   * @param leased units leased and not returned, or {@link #NO_WINDOW}
   */
  private record Window(long leased, AnsweredCalls calls) {}

  BudgetTransaction(Session session, Epochs epochs, Budget budget) {
    this.session = session;
    this.epochs = epochs;
    this.budget = budget;
    this.party = Names.of(budget.party());
    this.name = Names.of(budget.key());
  }

  /** Leases units. */
  LeaseGrant lease(BudgetLease lease) throws SQLException {
    long length = budget.window().windowMillis();
    long end;
    Agreements agreements;
    Window window;
    Window callWindow;
    Map<Long, byte[]> pools = Map.of();
    FairTenant tenant = lease.tenant();
    // Ids are counted for each tenant, in a row of its own.
    byte[] callName = tenant == null ? name : Names.of(lease.callKey());
    String statements = LOCK_PARTY + clocks() + Agreements.READ + WINDOWS;
    List<Object> values = new ArrayList<>(List.of(party, party, party, name));
    if (tenant != null) {
      statements += WINDOWS + BudgetPools.READ;
      values.addAll(List.of(callName, name));
    }
    try (PreparedStatement sql = session.prepare(statements, values.toArray())) {
      sql.execute();
      readClocks(sql);
      long current = now - Math.floorMod(now, length) + length;
      end = lease.windowEndMillis() == BudgetLease.CURRENT ? current : lease.windowEndMillis();
      boolean offered = end == current || end == current + length;
      if (!offered || isDenied(lease, end)) {
        session.rollBack();
        return new LeaseGrant(0, end, now, 0);
      }
      agreements = Agreements.read(sql, lease, now);
      window = window(sql, end);
      callWindow = tenant == null ? window : window(sql, end);
      if (tenant != null) {
        pools = BudgetPools.read(sql);
      }
    }
    TermsMismatchException mismatch = agreements.mismatch;
    if (mismatch != null) {
      refuse(lease, agreements);
      throw mismatch;
    }
    OptionalLong answered = callWindow.calls().answerTo(lease.id());
    if (tenant != null) {
      BudgetPools shared = new BudgetPools(session, name, tenant, pools, end, length, now);
      long units = answered.isPresent() ? 0 : shared.take(lease.units());
      long answer = answered.orElse(units);
      shared.expect();
      Decision after = shared.look();
      writeShared(lease, agreements, window, end, shared, callWindow, callName, answer);
      return new LeaseGrant(answer, end, now, after.remaining()).withLimit(after.limit());
    }
    // The limit may be lower now; NO_WINDOW is below 0.
    long left = Math.max(0, budget.window().limit() - Math.max(0, window.leased()));
    long units = answered.isPresent() ? 0 : Math.min(lease.units(), left);
    long answer = answered.orElse(units);
    boolean rolled = Math.floorDiv(before, length) != Math.floorDiv(now, length);
    // A repeated call is written again: the commit that counted it may have given up waiting for
    // its standby, and this commit waits for both.
    if (units > 0 || lease.id() != null || rolled || !agreements.has(end)) {
      write(lease, agreements, window, end, units, answer);
    } else {
      session.rollBack();
    }
    return new LeaseGrant(answer, end, now, left - units);
  }

  /** Returns units, once for each id; returns whether their window lasts. */
  boolean returnUnits(BudgetReturn units) throws SQLException {
    long end = units.windowEndMillis();
    // The length keeps region "a" with id "b1" apart from region "ab" with id "1".
    byte[] id = Names.of(units.region().length() + ":" + units.region() + units.id());
    FairTenant tenant = units.tenant();
    boolean known;
    Window window;
    Map<Long, byte[]> pools = Map.of();
    String reading = LOCK_PARTY + clocks() + IS_RETURNED + WINDOWS;
    List<Object> parameters = new ArrayList<>(List.of(party, party, name, end, id, name));
    if (tenant != null) {
      reading += BudgetPools.READ;
      parameters.add(name);
    }
    try (PreparedStatement sql = session.prepare(reading, parameters.toArray())) {
      sql.execute();
      readClocks(sql);
      known = Session.rowOf(sql, row -> row.getBoolean(1));
      window = window(sql, end);
      if (tenant != null) {
        pools = BudgetPools.read(sql);
      }
    }
    boolean lasts = window.leased() != NO_WINDOW && end > now;
    if (!lasts || known) {
      session.rollBack();
      return lasts;
    }
    StringBuilder statements = new StringBuilder(WRITE_CLOCK + WRITE_RETURN);
    List<@Nullable Object> values = new ArrayList<>(List.of(now, party, name, end, id));
    long left = Math.max(0, window.leased() - units.units());
    if (tenant != null) {
      long length = budget.window().windowMillis();
      BudgetPools shared = new BudgetPools(session, name, tenant, pools, end, length, now);
      shared.refund(units.units());
      left = shared.leased();
      shared.write(statements, values);
    }
    statements.append(SET_LEASED);
    Collections.addAll(values, name, end, left, window.calls().column(session), window.leased());
    session.commit(statements.toString(), values.toArray());
    return true;
  }

  /**
   * Returns a query of the newest clock that the party has seen, the server's clock, and the epoch.
   */
  private String clocks() {
    return epochs.after("(SELECT clock_millis FROM parties WHERE name = ?), " + Session.CLOCK)
        + ";";
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

  private static Window window(PreparedStatement sql, long windowEndMillis) throws SQLException {
    try (ResultSet rows = Session.rowsOf(sql)) {
      while (rows.next()) {
        if (rows.getLong(1) == windowEndMillis) {
          return new Window(rows.getLong(2), AnsweredCalls.of(rows.getArray(3), windowEndMillis));
        }
      }
    }
    return new Window(NO_WINDOW, AnsweredCalls.of(null, windowEndMillis));
  }

  /** Returns whether the window had begun, or could be leased, when its leases were lost. */
  private boolean isDenied(BudgetLease lease, long end) {
    long length = budget.window().windowMillis();
    return lease.onDataLoss() == DataLoss.DENY
        && loss > 0
        && end <= loss - Math.floorMod(loss, length) + 2 * length;
  }

  /** Records the refused terms, to which the other regions may move. */
  private void refuse(BudgetLease lease, Agreements agreements) throws SQLException {
    if (agreements.changesRow()) {
      Array budgets = session.numbers(agreements.budgets);
      session.commit(Agreements.SET_REQUESTED, budgets, party, lease.region());
    } else {
      session.rollBack();
    }
  }

  /**
   * Writes a grant and commits.
   *
   * @param units to count now
   * @param answer units of the call's answer, from now or before
   */
  private void write(
      BudgetLease lease, Agreements agreements, Window window, long end, long units, long answer)
      throws SQLException {
    List<@Nullable Object> values = new ArrayList<>();
    String statements = agreed(lease, agreements, end, values) + SET_LEASED;
    Array calls = window.calls().with(lease.id(), answer).column(session);
    Collections.addAll(values, name, end, Math.max(0, window.leased()) + units);
    Collections.addAll(values, calls, window.leased());
    session.commit(statements, values.toArray());
  }

  /** Writes a tenant's grant and commits. */
  private void writeShared(
      BudgetLease lease,
      Agreements agreements,
      Window window,
      long end,
      BudgetPools shared,
      Window callWindow,
      byte[] callName,
      long answer)
      throws SQLException {
    List<@Nullable Object> values = new ArrayList<>();
    StringBuilder statements = new StringBuilder(agreed(lease, agreements, end, values));
    shared.write(statements, values);
    statements.append(SET_LEASED);
    Collections.addAll(values, name, end, shared.leased(), null, window.leased());
    if (lease.id() != null) {
      Array calls = callWindow.calls().with(lease.id(), answer).column(session);
      statements.append(SET_LEASED);
      Collections.addAll(values, callName, end, 0L, calls, 0L);
    }
    session.commit(statements.toString(), values.toArray());
  }

  /** Returns statements that write the clock and the terms, and adds their values. */
  private String agreed(
      BudgetLease lease, Agreements agreements, long end, List<@Nullable Object> values)
      throws SQLException {
    Array budgets = session.numbers(agreements.budgets);
    if (agreements.moves) {
      Collections.addAll(values, budgets, party, budgets);
    }
    Collections.addAll(values, now, party);
    Collections.addAll(values, party, lease.region(), budgets, agreements.until(end));
    String statements = WRITE_CLOCK + Agreements.WRITE;
    return agreements.moves ? Agreements.MOVE + statements : statements;
  }
}
