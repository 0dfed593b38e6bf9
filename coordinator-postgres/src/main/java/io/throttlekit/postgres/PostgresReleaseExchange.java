package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.store.StoreListener;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * An exchange of releases in PostgreSQL, by the server's clock.
 *
 * <p>A call is one transaction of one round trip; one that neither returns nor appends a release
 * writes nothing. Commits do not wait for the disk: a crash of the server may lose the releases of
 * its last moment. A call fails at the lease deadline of the settings; it may have taken effect. It
 * may be created while the server is unreachable, and creates its tables.
 *
 * <p>Thread-safe and non-blocking; stages complete on virtual threads.
 */
public final class PostgresReleaseExchange extends Database implements ReleaseExchange {
  private static final List<Garbage.Kind> EXPIRED =
      List.of(
          new Garbage.Kind(
              "releases", "address, number", "kept_until_millis < ?", Garbage.SLACK_MILLIS),
          new Garbage.Kind(
              "release_processes", "address", "kept_until_millis < ?", Garbage.SLACK_MILLIS));

  /** A process is registered again after this time: a write with each call would cost too much. */
  private static final long RENEW_MILLIS = 120_000;

  /**
   * Deletes what was received (address, receipt). By its delivery and not up to a number: a
   * transaction that began earlier may commit a lower number later.
   */
  private static final String ACKNOWLEDGE =
      "DELETE FROM releases WHERE address = ? AND delivery = ?;\n";

  /** Registers the process (address), also after the clock has stepped back. */
  private static final String REGISTER =
      """
      INSERT INTO release_processes AS p (address, kept_until_millis) VALUES (?, %1$s + %2$d)
        ON CONFLICT (address) DO UPDATE SET kept_until_millis = excluded.kept_until_millis
          WHERE abs(p.kept_until_millis - excluded.kept_until_millis) > %3$d;
      """;

  /** Returns the oldest releases (address, address). */
  private static final String DELIVER =
      """
      WITH oldest AS (
        SELECT number FROM releases WHERE address = ? AND kept_until_millis >= %1$s
          ORDER BY number LIMIT %4$d
      ), delivered AS (
        UPDATE releases r SET delivery = txid_current() FROM oldest o
          WHERE r.address = ? AND r.number = o.number
          RETURNING r.number, r.release, r.delivery
      ) SELECT release, delivery FROM delivered ORDER BY number;
      """;

  /** Appends to the queues of known processes, and returns how many (addresses, releases). */
  private static final String APPEND =
      """
      WITH appended AS (
        INSERT INTO releases (address, release, kept_until_millis)
          SELECT s.address, s.release, %1$s + %2$d
            FROM unnest(?, ?) WITH ORDINALITY AS s (address, release, place)
              JOIN release_processes p USING (address)
            WHERE p.kept_until_millis >= %1$s
            ORDER BY s.place
          RETURNING 1
      ) SELECT count(*) FROM appended;
      """;

  /**
   * Deletes the oldest of full queues, and returns how many (addresses). The only rows of other
   * processes that a transaction locks, last and without waiting: so none waits in a circle.
   */
  private static final String DROP =
      """
      WITH too_many AS (
        SELECT a.address, o.number FROM unnest(?) AS a (address) CROSS JOIN LATERAL (
          SELECT number FROM releases r WHERE r.address = a.address
            ORDER BY number DESC OFFSET %5$d) o
      ), locked AS (
        SELECT r.address, r.number FROM releases r JOIN too_many t USING (address, number)
          FOR UPDATE OF r SKIP LOCKED
      ), dropped AS (
        DELETE FROM releases r USING locked l
          WHERE r.address = l.address AND r.number = l.number RETURNING 1
      ) SELECT count(*) FROM dropped;
      """;

  /** Creates an exchange, possibly with a test's clock. */
  PostgresReleaseExchange(PostgresSettings settings, Surroundings around) {
    super(settings, false, null, EXPIRED, around);
  }

  /**
   * Creates an exchange without connections.
   *
   * @param time for deadlines; releases expire by the server's clock
   * @param timer for deadlines, and for the deletion of abandoned releases
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresReleaseExchange connect(
      PostgresSettings settings, TimeSource time, Scheduler timer, StoreListener listener) {
    return new PostgresReleaseExchange(settings, new Surroundings(time, timer, listener, null));
  }

  @Override
  public CompletionStage<Delivery> exchange(String address, long receipt, List<Release> outgoing) {
    ReleaseExchange.requireValid(address, outgoing);
    List<Release> sent = List.copyOf(outgoing);
    return call(Deadline.LEASE, session -> exchange(session, address, receipt, sent));
  }

  @Override
  public CompletionStage<List<String>> claim(String address) {
    Release.requireAddress(address);
    return call(Deadline.LEASE, session -> claim(session, address));
  }

  private static List<String> claim(Session session, String address) throws SQLException {
    // Not those of which an equal one was returned or is older: a call that failed may have been
    // repeated.
    String sql =
        """
        WITH fresh AS (
          SELECT number FROM releases
            WHERE address = ? AND delivery IS NULL AND kept_until_millis >= %1$s
            ORDER BY number LIMIT %2$d FOR UPDATE
        ), claimed AS (
          UPDATE releases r SET delivery = txid_current() FROM fresh f
            WHERE r.address = ? AND r.number = f.number AND r.delivery IS NULL
            RETURNING r.number, r.release
        ) SELECT release FROM claimed c
            WHERE NOT EXISTS (SELECT FROM releases o
              WHERE o.address = ? AND o.release = c.release AND o.number <> c.number
                AND (o.number < c.number OR o.delivery IS NOT NULL))
            ORDER BY number;
        """
            .formatted(session.clock(), MAX_BATCH);
    try (PreparedStatement last = session.prepareLast(sql, address, address, address)) {
      last.execute();
      List<String> releases = new ArrayList<>();
      try (ResultSet rows = last.getResultSet()) {
        while (rows.next()) {
          releases.add(rows.getString(1));
        }
      }
      return releases;
    }
  }

  private static Delivery exchange(
      Session session, String address, long receipt, List<Release> outgoing) throws SQLException {
    List<@Nullable Object> values = new ArrayList<>();
    Collections.addAll(values, address, receipt, address, address, address);
    String sql = ACKNOWLEDGE + REGISTER + DELIVER;
    if (!outgoing.isEmpty()) {
      Array addresses = session.texts(outgoing.stream().map(Release::address).toList());
      Array distinct = session.texts(outgoing.stream().map(Release::address).distinct().toList());
      Array texts = session.texts(outgoing.stream().map(Release::text).toList());
      Collections.addAll(values, addresses, texts, distinct);
      sql += APPEND + DROP;
    }
    String all = sql.formatted(session.clock(), KEPT_MILLIS, RENEW_MILLIS, MAX_BATCH, MAX_QUEUE);
    try (PreparedStatement last = session.prepareLast(all, values.toArray())) {
      last.execute();
      List<String> releases = new ArrayList<>();
      long delivery = Delivery.NO_RECEIPT;
      try (ResultSet rows = Session.rowsOf(last)) {
        while (rows.next()) {
          releases.add(rows.getString(1));
          delivery = rows.getLong(2);
        }
      }
      long unknown = 0;
      long dropped = 0;
      if (!outgoing.isEmpty()) {
        unknown = outgoing.size() - Session.rowOf(last, row -> row.getLong(1));
        dropped = Session.rowOf(last, row -> row.getLong(1));
      }
      return new Delivery(delivery, releases, unknown, dropped);
    }
  }
}
