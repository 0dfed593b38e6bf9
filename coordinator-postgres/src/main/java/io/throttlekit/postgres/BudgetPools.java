package io.throttlekit.postgres;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairPool;
import io.throttlekit.fairness.FairTenant;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The pools of a budget that tenants share, in a transaction of one tenant: that of its window, and
 * of the next window if units were leased from it before. With the results of {@link
 * io.throttlekit.federation.InMemoryCoordinator}.
 */
final class BudgetPools {
  /** Reads the pools of the newest windows of a budget. */
  static final String READ =
      """
      SELECT window_end_millis, state FROM budget_pools WHERE budget = ?
        ORDER BY window_end_millis DESC LIMIT 3;
      """;

  static final String TENANTS = "budget_tenants";

  /**
   * Writes a pool (budget, end, state, kept until, state before). As for windows, a transaction
   * that finds it changed fails, and is retried.
   */
  private static final String WRITE =
      """
      INSERT INTO budget_pools AS p (budget, window_end_millis, state, kept_until_millis)
        VALUES (?, ?, ?, ?)
        ON CONFLICT (budget, window_end_millis) DO UPDATE
        SET state = CASE WHEN p.state = ?::bytea THEN excluded.state END;
      """;

  private final byte[] budget;
  private final long length;
  private final FairTenant tenant;
  private final FairTenant bounded;
  private final Map<Long, byte[]> states;

  /** The time of the decisions: a window may be leased before it begins. */
  private final long at;

  private final Window window;
  private final @Nullable Window next;

  /** A window with its pool. */
  private record Window(long endMillis, TenantRows rows) {
    FairPool pool() {
      return rows.pool().pool();
    }
  }

  /**
   * Reads the rows of the tenant.
   *
   * @param found the result of {@link #READ}
   * @param end of the window
   * @param length of a window, in ms
   */
  BudgetPools(
      Session session,
      byte[] budget,
      FairTenant tenant,
      Map<Long, byte[]> found,
      long end,
      long length,
      long now)
      throws SQLException {
    this.budget = budget;
    this.length = length;
    this.tenant = tenant;
    this.states = found;
    this.at = Math.max(now, end - length);
    this.window = window(session, end);
    boolean isLeasedAhead = states.containsKey(end + length);
    this.next = isLeasedAhead ? window(session, end + length) : null;
    List<TenantRows> all = new ArrayList<>(List.of(window.rows()));
    if (next != null) {
      all.add(next.rows());
    }
    List<@Nullable Object> values = new ArrayList<>();
    TenantRows.addValues(session, all, values);
    try (PreparedStatement sql = session.prepare(TenantRows.read(TENANTS), values.toArray());
        ResultSet rows = sql.executeQuery()) {
      TenantRows.read(rows, all);
    }
    byte[] own = states.get(end);
    if (own == null) {
      byte[] before = states.get(end - length);
      window.rows().begin(before == null ? null : States.decode(before), end);
    } else {
      window.rows().open(States.decode(own));
    }
    bounded = window.rows().bounded(tenant);
    byte[] ahead = states.get(end + length);
    if (next != null && ahead != null) {
      next.rows().open(States.decode(ahead));
    }
  }

  /** Reads the result of {@link #READ}: states by the ends of their windows. */
  static Map<Long, byte[]> read(PreparedStatement sql) throws SQLException {
    Map<Long, byte[]> states = new HashMap<>();
    try (ResultSet rows = Session.rowsOf(sql)) {
      while (rows.next()) {
        states.put(rows.getLong(1), rows.getBytes(2));
      }
    }
    return states;
  }

  /** Grants what the tenant may take without units that others have reserved. */
  long take(long most) {
    return window.pool().lease(bounded, most, at);
  }

  /** Lets the tenant keep its reserve in the next window. */
  void expect() {
    if (next != null) {
      next.pool().expect(tenant);
    }
  }

  /** Returns what the tenant may take. */
  Decision look() {
    return window.pool().look(bounded, Overrun.COUNT, at);
  }

  /** Takes units of the tenant back. */
  void refund(long units) {
    var _ = window.pool().refund(bounded, units, window.endMillis(), at);
  }

  /** Returns the units leased in the window. */
  long leased() {
    return window.pool().used();
  }

  /** Returns whether anything has to be written. */
  boolean isChanged() {
    return window.rows().isChanged() || (next != null && next.rows().isChanged());
  }

  /** Adds statements that write what has changed, and their values. */
  void write(StringBuilder statements, List<@Nullable Object> values) throws SQLException {
    if (window.rows().isChanged()) {
      write(window, statements, values);
    }
    if (next != null) {
      if (next.rows().isChanged()) {
        write(next, statements, values);
      }
      // Last, because a row that the next window has is not replaced.
      window.rows().carryEvicted(next.rows(), statements, values);
    }
  }

  private void write(Window changed, StringBuilder statements, List<@Nullable Object> values)
      throws SQLException {
    long end = changed.endMillis();
    statements.append(WRITE);
    Collections.addAll(
        values,
        budget,
        end,
        States.encode(changed.rows().pool().numbers()),
        end + length + Garbage.SLACK_MILLIS,
        states.get(end));
    changed.rows().write(statements, values);
  }

  private Window window(Session session, long end) {
    TenantRows rows =
        new TenantRows(session, TENANTS, pool(end), pool(end - length), tenant.terms());
    rows.add(tenant);
    return new Window(end, rows);
  }

  private byte[] pool(long end) {
    return ByteBuffer.allocate(budget.length + Long.BYTES).put(budget).putLong(end).array();
  }
}
