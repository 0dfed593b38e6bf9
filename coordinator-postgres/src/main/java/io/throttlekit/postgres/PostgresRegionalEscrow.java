package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreListener;
import io.throttlekit.tier.Timer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What a region has leased, in PostgreSQL, by the server's clock.
 *
 * <p>Every call is one transaction of two round trips (the first refill of a window of three), and
 * the clock is read when the rows are locked. A transaction that others were in the way of is tried
 * again, and one whose connection broke before its commit. One whose commit was not answered fails,
 * and what it asked may have happened. While PostgreSQL does not answer, calls fail at once, but
 * for a few that probe. An escrow comes back by itself. It may be made before there is a server,
 * and makes its tables. Units are spent on the server that took them in, until it ends: in a backup
 * that is restored, or a standby that is promoted, they are lost, for they may have been spent
 * since.
 *
 * <p>Thread-safe. Nothing blocks; stages complete on virtual threads.
 */
public final class PostgresRegionalEscrow implements RegionalEscrow {
  private static final List<Garbage.Kind> OVER =
      List.of(
          new Garbage.Kind(
              "escrow", "counter, window_end_millis", "ends_millis < ?", Garbage.SLACK_MILLIS));
  private static final String CLOCK = "SELECT " + Session.CLOCK;
  private static final String LEASE =
      """
      SELECT window_end_millis, begins_millis, ends_millis, units FROM escrow
        WHERE counter = ? AND history = pg_postmaster_start_time()
        ORDER BY window_end_millis FOR UPDATE;
      """
          + CLOCK;
  private static final String LOCK =
      """
      INSERT INTO escrow (counter, window_end_millis, units, begins_millis, ends_millis)
        VALUES (?, ?, 0, 0, 0)
        ON CONFLICT (counter, window_end_millis) DO UPDATE SET units = 0 WHERE false;
      SELECT begins_millis, ends_millis, units, history = pg_postmaster_start_time(), EXISTS
          (SELECT FROM refills WHERE counter = ? AND window_end_millis = ? AND name = ?)
        FROM escrow WHERE counter = ? AND window_end_millis = ?;
      """
          + CLOCK;
  private static final String SET_UNITS =
      "UPDATE escrow SET units = ? WHERE counter = ? AND window_end_millis = ?;";
  private static final String FORGET =
      "DELETE FROM refills WHERE counter = ? AND window_end_millis = ?";
  private static final String REFILL =
      """
      INSERT INTO refills (counter, window_end_millis, name) VALUES (?, ?, ?);
      UPDATE escrow
        SET begins_millis = ?, ends_millis = ?, units = ?, history = pg_postmaster_start_time()
        WHERE counter = ? AND window_end_millis = ?;
      """;

  private final Database database;

  /** A window's row. */
  private record Held(long begins, long ends, long units) {}

  private PostgresRegionalEscrow(PostgresSettings settings, Database.Surroundings around) {
    this.database = Database.open(settings, Commits.DURABLE, null, OVER, around);
  }

  /**
   * An escrow without connections yet.
   *
   * @param time for deadlines; what can be spent follows the server's clock
   * @param timer for deadlines, and for deleting windows that are over
   * @throws IllegalArgumentException when the URL is none of PostgreSQL
   */
  public static PostgresRegionalEscrow connect(
      PostgresSettings settings, TimeSource time, Timer timer, StoreListener listener) {
    return open(settings, new Database.Surroundings(time, timer, listener, null));
  }

  /** An escrow that may have a test's clock. */
  static PostgresRegionalEscrow open(PostgresSettings settings, Database.Surroundings around) {
    return new PostgresRegionalEscrow(settings, around);
  }

  /** Whether PostgreSQL answered lately, or was not asked. */
  public boolean isUp() {
    return database.isUp();
  }

  /** {@inheritDoc} Calls are not recognised yet: one that is sent again is granted again. */
  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
    byte[] counter = Names.of(key);
    return database.call(false, session -> lease(session, counter, units)); // requests wait
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    return database.call(true, session -> refill(session, refill));
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
    byte[] counter = Names.of(key);
    return database.call(true, session -> release(session, counter, windowEndMillis));
  }

  @Override
  public CompletionStage<Long> health() {
    return database.health();
  }

  @Override
  public void close() {
    database.close();
  }

  /**
   * Completes after {@link #close} when what was asked before it has been answered, or has taken as
   * long as it may, and all connections are closed.
   */
  public CompletionStage<?> ended() {
    return database.ended();
  }

  private static EscrowGrant lease(Session session, byte[] counter, long units)
      throws SQLException {
    long now;
    TreeMap<Long, Held> windows = new TreeMap<>();
    try (PreparedStatement sql = session.prepare(LEASE)) {
      sql.setBytes(1, counter);
      sql.execute();
      try (ResultSet rows = sql.getResultSet()) {
        while (rows.next()) {
          windows.put(rows.getLong(1), new Held(rows.getLong(2), rows.getLong(3), rows.getLong(4)));
        }
      }
      now = clock(session, sql);
    }
    for (var window : windows.entrySet()) {
      Held held = window.getValue();
      if (held.begins() <= now && now < held.ends()) {
        long granted = Math.min(units, held.units());
        long left = held.units() - granted;
        if (granted > 0) {
          setUnits(session, counter, window.getKey(), left);
        } else {
          session.rollBack();
        }
        return new EscrowGrant(granted, window.getKey(), held.begins(), held.ends(), now, left);
      }
    }
    session.rollBack();
    return EscrowGrant.nothing(now);
  }

  private static boolean refill(Session session, EscrowRefill refill) throws SQLException {
    byte[] counter = Names.of(refill.key());
    byte[] name = Names.of(refill.id());
    long window = refill.windowEndMillis();
    Held held;
    boolean spendable;
    boolean known;
    long now;
    try (PreparedStatement sql = session.prepare(LOCK)) {
      sql.setBytes(1, counter);
      sql.setLong(2, window);
      sql.setBytes(3, counter);
      sql.setLong(4, window);
      sql.setBytes(5, name);
      sql.setBytes(6, counter);
      sql.setLong(7, window);
      sql.execute();
      try (ResultSet row = Session.rowsOf(sql)) {
        row.next();
        held = new Held(row.getLong(1), row.getLong(2), row.getLong(3));
        spendable = row.getBoolean(4);
        known = row.getBoolean(5);
      }
      now = clock(session, sql);
    }
    boolean over = held.ends() <= now;
    if (refill.endsMillis() <= now || (known && !over)) {
      session.rollBack();
      return refill.endsMillis() > now;
    }
    if (over) { // what it held is worth nothing any more, and neither is what filled it
      try (PreparedStatement sql = session.prepare(FORGET)) {
        sql.setBytes(1, counter);
        sql.setLong(2, window);
        sql.execute();
      }
    }
    try (PreparedStatement sql = session.prepareLast(REFILL)) {
      sql.setBytes(1, counter);
      sql.setLong(2, window);
      sql.setBytes(3, name);
      long begins = refill.beginsMillis();
      long ends = refill.endsMillis();
      boolean first = over || !spendable;
      sql.setLong(4, first ? begins : Math.min(begins, held.begins()));
      sql.setLong(5, first ? ends : Math.max(ends, held.ends()));
      sql.setLong(6, first ? refill.units() : held.units() + refill.units());
      sql.setBytes(7, counter);
      sql.setLong(8, window);
      Session.commit(sql);
    }
    return true;
  }

  private static long release(Session session, byte[] counter, long window) throws SQLException {
    long now;
    long units = 0;
    long ends = 0;
    try (PreparedStatement sql =
        session.prepare(
            """
            SELECT units, ends_millis FROM escrow
              WHERE counter = ? AND window_end_millis = ?
                AND history = pg_postmaster_start_time() FOR UPDATE;
            """
                + CLOCK)) {
      sql.setBytes(1, counter);
      sql.setLong(2, window);
      sql.execute();
      try (ResultSet row = sql.getResultSet()) {
        if (row.next()) {
          units = row.getLong(1);
          ends = row.getLong(2);
        }
      }
      now = clock(session, sql);
    }
    if (units == 0 || ends <= now) {
      session.rollBack();
      return 0;
    }
    setUnits(session, counter, window, 0); // and its refills stay known
    return units;
  }

  private static void setUnits(Session session, byte[] counter, long window, long units)
      throws SQLException {
    try (PreparedStatement sql = session.prepareLast(SET_UNITS)) {
      sql.setLong(1, units);
      sql.setBytes(2, counter);
      sql.setLong(3, window);
      Session.commit(sql);
    }
  }

  private static long clock(Session session, PreparedStatement sql) throws SQLException {
    try (ResultSet row = Session.rowsOf(sql)) {
      row.next();
      return session.now(row.getLong(1));
    }
  }
}
