package io.throttlekit.postgres;

import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The terms of the regions for a party, as read by a lease under the party's lock. A row stays in
 * effect until its last window ends.
 */
final class Agreements {
  /** Reads the rows of a party. */
  static final String READ =
      """
      SELECT region, budgets, until_millis, coalesce(asked, budgets) FROM agreements
        WHERE party = ? ORDER BY region;
      """;

  /** Writes the terms of a granted lease (party, region, budgets, until). */
  static final String WRITE =
      """
      INSERT INTO agreements (party, region, budgets, until_millis) VALUES (?, ?, ?, ?)
        ON CONFLICT (party, region) DO UPDATE
        SET budgets = excluded.budgets, until_millis = excluded.until_millis, asked = NULL;
      """;

  /**
   * Moves the other regions to the terms that they have requested, too (budgets, party, budgets).
   */
  static final String MOVE =
      "UPDATE agreements SET budgets = ?, asked = NULL WHERE party = ? AND budgets <> ?;\n";

  /** Writes the terms of a refused request (budgets, party, region). */
  static final String SET_REQUESTED =
      "UPDATE agreements SET asked = ? WHERE party = ? AND region = ?;\n";

  private final BudgetLease lease;

  /** The limits and windows, in ms, of the lease's terms. */
  final List<Long> budgets = new ArrayList<>();

  /** Why the lease cannot be granted; null if it can. */
  @Nullable TermsMismatchException mismatch;

  /** Whether a grant moves other regions to these terms. */
  boolean moves;

  private @Nullable Row own;

  /**
   * A row; {@code requested} equals {@code budgets} if the region's last request used its terms in
   * effect.
   */
  private record Row(List<Long> budgets, long untilMillis, List<Long> requested) {}

  private Agreements(BudgetLease lease) {
    this.lease = lease;
    for (FixedWindow each : lease.budget().terms().budgets()) {
      budgets.add(each.limit());
      budgets.add(each.windowMillis());
    }
  }

  /** Reads the result of {@link #READ}. */
  static Agreements read(PreparedStatement sql, BudgetLease lease, long now) throws SQLException {
    Agreements agreements = new Agreements(lease);
    try (ResultSet rows = Session.rowsOf(sql)) {
      while (rows.next()) {
        List<Long> leased = List.of((Long[]) rows.getArray(2).getArray());
        List<Long> requested = List.of((Long[]) rows.getArray(4).getArray());
        agreements.found(rows.getString(1), new Row(leased, rows.getLong(3), requested), now);
      }
    }
    return agreements;
  }

  private void found(String region, Row row, long now) {
    boolean isInEffect = row.untilMillis() > now;
    if (region.equals(lease.region())) {
      own = isInEffect ? row : null;
    } else if (isInEffect && !row.budgets().equals(budgets)) {
      if (row.requested().equals(budgets)) {
        moves = true;
      } else if (mismatch == null) {
        mismatch =
            new TermsMismatchException(
                lease.region(),
                lease.budget().terms(),
                region,
                terms(row.budgets()),
                terms(row.requested()));
      }
    }
  }

  /** Returns whether a refused request changes the region's row. */
  boolean changesRow() {
    return own != null && !own.requested().equals(budgets);
  }

  /** Returns whether the region's row needs no change for a lease until then. */
  boolean has(long untilMillis) {
    return own != null
        && own.budgets().equals(budgets)
        && own.requested().equals(budgets)
        && own.untilMillis() >= untilMillis;
  }

  /**
   * Returns until when the region's terms are in effect after a lease until {@code
   * windowEndMillis}.
   */
  long until(long windowEndMillis) {
    return own == null ? windowEndMillis : Math.max(own.untilMillis(), windowEndMillis);
  }

  private Terms terms(List<Long> numbers) {
    List<FixedWindow> windows = new ArrayList<>();
    for (int i = 0; i < numbers.size(); i += 2) {
      windows.add(new FixedWindow(numbers.get(i), numbers.get(i + 1)));
    }
    return new Terms(lease.budget().terms().scope(), windows);
  }
}
