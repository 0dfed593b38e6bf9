package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreListener;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The escrow of a region in PostgreSQL, by the server's clock.
 *
 * <p>A call is one transaction of two round trips (three for the first refill of a window), and the
 * clock is read when the rows are locked. A transaction is retried after a conflict, and after its
 * connection was lost before the commit. A transaction whose commit was not answered fails, and may
 * have taken effect; a call with an id, or a refill, takes effect once however often it is
 * repeated. While PostgreSQL does not answer, calls fail at once, except for a few probes; the
 * escrow recovers by itself. It may be created while the server is unreachable, and creates its
 * tables. Units are spent only on the server that stored them, until it ends: in a restored backup
 * or a promoted standby they are lost, because they may have been spent since.
 *
 * <p>Thread-safe and non-blocking; stages complete on virtual threads.
 */
public final class PostgresRegionalEscrow extends Database implements RegionalEscrow {
  private static final List<Garbage.Kind> EXPIRED =
      List.of(
          new Garbage.Kind(
              "escrow", "counter, window_end_millis", "ends_millis < ?", Garbage.SLACK_MILLIS));
  private static final String CLOCK = "SELECT " + Session.CLOCK;
  private static final String READ =
      """
      SELECT window_end_millis, begins_millis, ends_millis, units, calls FROM escrow
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
  private static final String TAKE =
      "UPDATE escrow SET units = ?, calls = ? WHERE counter = ? AND window_end_millis = ?;";
  private static final String FORGET =
      "DELETE FROM refills WHERE counter = ? AND window_end_millis = ?";
  private static final String REFILL =
      """
      INSERT INTO refills (counter, window_end_millis, name) VALUES (?, ?, ?);
      UPDATE escrow
        SET begins_millis = ?, ends_millis = ?, units = ?, history = pg_postmaster_start_time(),
          calls = CASE WHEN ? THEN NULL ELSE calls END
        WHERE counter = ? AND window_end_millis = ?;
      """;

  /** The locked row of a window. */
  private record Held(long window, long begins, long ends, long units, AnsweredCalls calls) {}

  /** The windows of a counter that have not ended, in order of their end. */
  private record Windows(List<Held> held, long now) {

    @Nullable Held first(Predicate<Held> of) {
      return held.stream().filter(of).findFirst().orElse(null);
    }
  }

  /** Creates an escrow, possibly with a test's clock. */
  PostgresRegionalEscrow(PostgresSettings settings, Surroundings around) {
    super(settings, true, null, EXPIRED, around);
  }

  /**
   * Creates an escrow without connections.
   *
   * @param time for deadlines; spending follows the server's clock
   * @param timer for deadlines, and for the deletion of ended windows
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresRegionalEscrow connect(
      PostgresSettings settings, TimeSource time, Scheduler timer, StoreListener listener) {
    return new PostgresRegionalEscrow(settings, new Surroundings(time, timer, listener, null));
  }

  @Override
  public CompletionStage<EscrowGrant> lease(CounterKey key, long units, @Nullable CallId id) {
    byte[] counter = Names.of(key);
    Deadline deadline = id == null ? Deadline.REQUEST : Deadline.NONE; // requests wait for it
    return call(deadline, session -> lease(session, counter, units, id));
  }

  @Override
  public CompletionStage<Boolean> refill(EscrowRefill refill) {
    return call(Deadline.NONE, session -> refill(session, refill));
  }

  @Override
  public CompletionStage<Long> release(CounterKey key, long windowEndMillis, @Nullable CallId id) {
    byte[] counter = Names.of(key);
    return call(Deadline.ofCall(id), session -> release(session, counter, windowEndMillis, id));
  }

  private static EscrowGrant lease(Session session, byte[] counter, long units, @Nullable CallId id)
      throws SQLException {
    Windows windows = read(session, counter, id);
    long now = windows.now();
    Held held = windows.first(each -> each.begins() <= now);
    if (held == null) {
      session.rollBack();
      return EscrowGrant.nothing(now);
    }
    OptionalLong answered = held.calls().answerTo(id);
    long taken = answered.isPresent() ? 0 : Math.min(units, held.units());
    take(session, counter, held, taken, answered, id);
    return new EscrowGrant(
        answered.orElse(taken),
        held.window(),
        held.begins(),
        held.ends(),
        now,
        held.units() - taken);
  }

  private static boolean refill(Session session, EscrowRefill refill) throws SQLException {
    byte[] counter = Names.of(refill.key());
    byte[] name = Names.of(refill.id());
    long window = refill.windowEndMillis();
    record Row(long begins, long ends, long units, boolean spendable, boolean known) {}
    Row row;
    long now;
    try (PreparedStatement sql =
        session.prepare(LOCK, counter, window, counter, window, name, counter, window)) {
      sql.execute();
      row =
          Session.rowOf(
              sql,
              found ->
                  new Row(
                      found.getLong(1),
                      found.getLong(2),
                      found.getLong(3),
                      found.getBoolean(4),
                      found.getBoolean(5)));
      now = clock(session, sql);
    }
    boolean over = row.ends() <= now;
    if (refill.endsMillis() <= now || (row.known() && !over)) {
      session.rollBack();
      return refill.endsMillis() > now;
    }
    if (over) { // its units and refills have expired
      try (PreparedStatement sql = session.prepare(FORGET, counter, window)) {
        sql.execute();
      }
    }
    boolean first = over || !row.spendable();
    session.commit(
        REFILL,
        counter,
        window,
        name,
        first ? refill.beginsMillis() : Math.min(refill.beginsMillis(), row.begins()),
        first ? refill.endsMillis() : Math.max(refill.endsMillis(), row.ends()),
        first ? refill.units() : row.units() + refill.units(),
        first, // then earlier answers came from units that are gone
        counter,
        window);
    return true;
  }

  private static long release(Session session, byte[] counter, long window, @Nullable CallId id)
      throws SQLException {
    Windows windows = read(session, counter, id);
    Held held = windows.first(each -> each.window() == window);
    if (held == null) {
      session.rollBack();
      return 0;
    }
    OptionalLong answered = held.calls().answerTo(id);
    long taken = answered.isPresent() ? 0 : held.units();
    take(session, counter, held, taken, answered, id); // its refills stay recorded
    return answered.orElse(taken);
  }

  /**
   * Reads the windows of a counter under their locks, and then the clock. Fails a call that was
   * overtaken in any of the windows.
   */
  private static Windows read(Session session, byte[] counter, @Nullable CallId id)
      throws SQLException {
    List<Held> found = new ArrayList<>();
    try (PreparedStatement sql = session.prepare(READ, counter)) {
      sql.execute();
      try (ResultSet rows = sql.getResultSet()) {
        while (rows.next()) {
          long window = rows.getLong(1);
          found.add(
              new Held(
                  window,
                  rows.getLong(2),
                  rows.getLong(3),
                  rows.getLong(4),
                  AnsweredCalls.of(rows.getArray(5), window)));
        }
      }
      long now = clock(session, sql);
      found.removeIf(held -> held.ends() <= now);
      found.forEach(held -> held.calls().answerTo(id));
      return new Windows(found, now);
    }
  }

  /**
   * Takes units of a window out and commits.
   *
   * @param answered the earlier answer of a repeated call; nothing is written then. Its commit may
   *     be lost with this server without harm, because units are spent on this server only.
   */
  private static void take(
      Session session,
      byte[] counter,
      Held held,
      long units,
      OptionalLong answered,
      @Nullable CallId id)
      throws SQLException {
    if (answered.isPresent() || (units == 0 && id == null)) {
      session.rollBack();
      return;
    }
    @Nullable Array calls = held.calls().with(id, units).column(session);
    session.commit(TAKE, held.units() - units, calls, counter, held.window());
  }

  private static long clock(Session session, PreparedStatement sql) throws SQLException {
    return Session.rowOf(sql, row -> session.now(row.getLong(1)));
  }
}
