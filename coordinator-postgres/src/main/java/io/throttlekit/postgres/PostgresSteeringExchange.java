package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringLease;
import io.throttlekit.store.StoreListener;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An exchange of steering in PostgreSQL, by the server's clock.
 *
 * <p>Most visits are one transaction of one round trip: one that brings and changes nothing reads,
 * and one that leaves a report for another replica adds it, without the lock of the lease. All
 * others take two more round trips under that lock. So the reports of replicas do not wait for each
 * other; a report that is committed while the steering replica visits waits for its next visit.
 *
 * <p>Leases and records are durable, whatever the server's default is. Other commits do not wait
 * for the disk: a crash of the server may lose the reports of its last moment, or deliver them
 * again. A visit fails at the lease deadline of the settings; it may have taken effect. The
 * exchange may be created while the server is unreachable, and creates its tables.
 *
 * <p>Thread-safe and non-blocking; stages complete on virtual threads.
 */
public final class PostgresSteeringExchange extends Database implements SteeringExchange {
  private static final List<Garbage.Kind> EXPIRED =
      List.of(
          new Garbage.Kind(
              "steering_reports", "place", "kept_until_millis < ?", Garbage.SLACK_MILLIS));

  private static final String NOT_DURABLE = "SET LOCAL synchronous_commit = off;\n";

  /** Locks the row of the lease, and creates it if needed; see {@link BudgetTransaction}. */
  private static final String LOCK =
      """
      INSERT INTO steering DEFAULT VALUES
        ON CONFLICT (one) DO UPDATE SET one = excluded.one WHERE false;
      """;

  /**
   * Returns the state, with the record if it is newer (known epoch, known version).
   *
   * <p>In all queries {@code now} is the server's clock.
   */
  private static final String STATE =
      """
      now AS MATERIALIZED (SELECT %1$s AS millis), state AS MATERIALIZED (
        SELECT millis, epoch, replica, incarnation, until_millis, record_epoch, record_version,
            CASE WHEN (record_epoch, record_version) > (?, ?) THEN record END AS record
          FROM now LEFT JOIN steering ON true
      )\
      """;

  /** Adds a report (replica, report), followed by its condition. */
  private static final String ADD =
      """
      INSERT INTO steering_reports AS r (replica, report, kept_until_millis)
        SELECT ?, ?, now.millis + %2$d FROM now%3$s
        ON CONFLICT (place) DO UPDATE SET number = excluded.number, replica = excluded.replica,
          report = excluded.report, kept_until_millis = excluded.kept_until_millis,
          dropped = r.dropped + CASE WHEN r.report IS NULL THEN 0 ELSE 1 END
        RETURNING 1\
      """;

  /**
   * The condition that another process has the lease (replica, incarnation), and the exchange has
   * not lost the visitor's record (known epoch).
   */
  private static final String IF_OTHERS_STEER =
      """
      , state WHERE state.replica <> '' AND (state.replica <> ? OR state.incarnation <> ?)
        AND state.until_millis BETWEEN state.millis AND state.millis + %d AND state.epoch >= ?\
      """
          .formatted(SteeringLease.MAX_LEFT_MILLIS);

  private static final String READ =
      "WITH "
          + STATE
          + """
           SELECT *, EXISTS (
            SELECT FROM steering_reports WHERE report IS NOT NULL OR dropped > 0) FROM state;
          """;

  private static final String READ_AND_ADD =
      "WITH " + STATE + ", added AS (" + ADD + ") SELECT *, EXISTS (SELECT FROM added) FROM state;";

  private static final String ADD_IN_ANY_CASE =
      "WITH now AS MATERIALIZED (SELECT %1$s AS millis) " + ADD + ";\n";

  private static final String WRITE_LEASE =
      "UPDATE steering SET epoch = ?, replica = ?, incarnation = ?, until_millis = ?;\n";

  private static final String WRITE_RECORD =
      "UPDATE steering SET record_epoch = ?, record_version = ?, record = ?;\n";

  /**
   * Writes the row again after a repeated publication: the commit that stored the record may have
   * given up waiting for its standby, and this commit waits for both.
   */
  private static final String WRITE_SAME_RECORD =
      "UPDATE steering SET record_version = record_version;\n";

  /** Removes and returns the reports. */
  private static final String DELIVER =
      """
      WITH waiting AS (
        SELECT * FROM steering_reports WHERE report IS NOT NULL OR dropped > 0 FOR UPDATE
      ), delivered AS (
        UPDATE steering_reports r SET report = NULL, dropped = 0
          FROM waiting w WHERE r.place = w.place
      ) SELECT replica, report, kept_until_millis, dropped FROM waiting ORDER BY number;
      """;

  /** Creates an exchange, possibly with a test's clock. */
  PostgresSteeringExchange(PostgresSettings settings, Surroundings around) {
    super(settings, true, null, EXPIRED, around);
  }

  /**
   * Creates an exchange without connections.
   *
   * @param time for deadlines; leases and reports end by the server's clock
   * @param timer for deadlines, and for the deletion of expired reports
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresSteeringExchange connect(
      PostgresSettings settings, TimeSource time, Scheduler timer, StoreListener listener) {
    return new PostgresSteeringExchange(settings, new Surroundings(time, timer, listener, null));
  }

  @Override
  public CompletionStage<Answer> visit(Visit visit) {
    return call(
        Deadline.LEASE,
        session -> {
          boolean needsLock = visit.record() != null || visit.leaving();
          Answer answer = needsLock ? null : withoutLock(session, visit);
          return answer == null ? locked(session, visit) : answer;
        });
  }

  /** Makes a visit that changes nothing but reports; else has no effect and returns null. */
  private static @Nullable Answer withoutLock(Session session, Visit visit) throws SQLException {
    boolean brings = !visit.report().isEmpty();
    List<@Nullable Object> values = new ArrayList<>();
    Collections.addAll(values, visit.knownEpoch(), visit.knownVersion());
    if (brings) {
      Collections.addAll(values, visit.replica(), visit.report());
      Collections.addAll(values, visit.replica(), visit.incarnation(), visit.knownEpoch());
    }
    String sql = NOT_DURABLE + (brings ? READ_AND_ADD : READ);
    State state;
    try (PreparedStatement last =
        session.prepareLast(
            sql.formatted(session.clock(), KEPT_MILLIS, IF_OTHERS_STEER), values.toArray())) {
      last.execute();
      state = Session.rowOf(last, State::of);
    }
    SteeringLease lease = state.lease();
    boolean done =
        brings
            ? state.reports()
            : lease.equals(state.leaseAfter(visit)) && !(lease.isOf(visit) && state.reports());
    return done ? state.answer(visit, lease, false, List.of(), 0) : null;
  }

  private static Answer locked(Session session, Visit visit) throws SQLException {
    State state;
    try (PreparedStatement first =
        session.prepare(
            (LOCK + READ).formatted(session.clock()), visit.knownEpoch(), visit.knownVersion())) {
      first.execute();
      state = Session.rowOf(first, State::of);
    }
    long now = state.nowMillis();
    SteeringLease lease = state.leaseAfter(visit);
    boolean steers = lease.isOf(visit);
    Record published = steers ? state.publishable(visit.record(), lease) : null;

    StringBuilder sql = new StringBuilder();
    List<@Nullable Object> values = new ArrayList<>();
    if (published == null && lease.epoch() == state.lease().epoch()) {
      sql.append(NOT_DURABLE);
    }
    if (!lease.equals(state.lease())) {
      sql.append(WRITE_LEASE);
      Collections.addAll(values, lease.epoch(), lease.replica());
      Collections.addAll(values, lease.incarnation(), lease.untilMillis());
    }
    if (published != null && state.isOlderThan(published)) {
      sql.append(WRITE_RECORD);
      Collections.addAll(values, published.epoch(), published.version(), published.text());
    } else if (published != null) {
      sql.append(WRITE_SAME_RECORD);
    }
    if (steers) {
      sql.append(DELIVER);
    } else if (!visit.report().isEmpty()) {
      sql.append(ADD_IN_ANY_CASE.formatted(session.clock(), KEPT_MILLIS, ""));
      Collections.addAll(values, visit.replica(), visit.report());
    }
    try (PreparedStatement last = session.prepareLast(sql.toString(), values.toArray())) {
      Session.executeLast(last);
      List<Report> reports = new ArrayList<>();
      long dropped = steers ? deliver(last, visit, now, reports) : 0;
      return state.answer(visit, lease, published != null, reports, dropped);
    }
  }

  /** Reads the reports that wait, adds that of the visit, and returns how many were dropped. */
  private static long deliver(
      PreparedStatement last, Visit visit, long nowMillis, List<Report> reports)
      throws SQLException {
    long dropped = 0;
    try (ResultSet rows = Session.rowsOf(last)) {
      while (rows.next()) {
        String text = rows.getString(2);
        dropped += rows.getLong(4);
        if (text != null && rows.getLong(3) >= nowMillis) {
          reports.add(new Report(rows.getString(1), text));
        } else if (text != null) {
          dropped++;
        }
      }
    }
    if (!visit.report().isEmpty()) {
      reports.add(new Report(visit.replica(), visit.report()));
    }
    if (reports.size() > MAX_REPORTS) {
      reports.removeFirst();
      dropped++;
    }
    return dropped;
  }

  /**
   * The state of the exchange at a visit.
   *
   * @param record null unless it is newer than that of the replica
   * @param reports whether reports wait; after {@link #READ_AND_ADD} whether one was added
   */
  private record State(
      long nowMillis,
      SteeringLease lease,
      long recordEpoch,
      long recordVersion,
      @Nullable Record record,
      boolean reports) {

    static State of(ResultSet row) throws SQLException {
      String replica = row.getString(3);
      String text = row.getString(8);
      return new State(
          row.getLong(1),
          replica == null // before the first lease
              ? SteeringLease.NONE
              : new SteeringLease(row.getLong(2), replica, row.getLong(4), row.getLong(5)),
          row.getLong(6),
          row.getLong(7),
          text == null ? null : new Record(row.getLong(6), row.getLong(7), text),
          row.getBoolean(9));
    }

    SteeringLease leaseAfter(Visit visit) {
      return lease.after(visit, recordEpoch, recordVersion, nowMillis, nowMillis);
    }

    /** Returns the record if the holder of the lease may publish it, or did before; else null. */
    @Nullable Record publishable(@Nullable Record next, SteeringLease lease) {
      boolean may =
          next != null
              && next.epoch() == lease.epoch()
              && (isOlderThan(next)
                  || (next.epoch() == recordEpoch && next.version() == recordVersion));
      return may ? next : null;
    }

    boolean isOlderThan(Record next) {
      return next.isNewerThan(recordEpoch, recordVersion);
    }

    Answer answer(
        Visit visit, SteeringLease next, boolean published, List<Report> delivered, long dropped) {
      return new Answer(
          next.holder(nowMillis),
          next.isOf(visit) ? next.epoch() : 0,
          published,
          published ? null : record,
          delivered,
          dropped);
    }
  }
}
