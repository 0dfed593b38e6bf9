package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.record.RecordStore;
import io.throttlekit.record.RecordUpdates;
import io.throttlekit.store.StoreListener;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Records in PostgreSQL, by the server's clock.
 *
 * <p>An update is one transaction of two round trips. It locks the row of the record, so that the
 * updates of a record follow each other, and applies its transition here. Commits are durable,
 * whatever the server's default is. An update fails at the lease deadline of the settings; it may
 * have taken effect. The store may be created while the server is unreachable, and creates its
 * table.
 *
 * <p>Thread-safe and non-blocking; stages complete on virtual threads.
 */
public final class PostgresRecordStore extends Database implements RecordStore {
  private static final List<Garbage.Kind> EXPIRED =
      List.of(new Garbage.Kind("records", "name", "kept_until_millis < ?", Garbage.SLACK_MILLIS));

  /**
   * Locks the row, and creates it if needed (name). Reads the clock after that, then the record
   * (name).
   */
  private static final String READ =
      """
      INSERT INTO records (name) VALUES (?)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name WHERE false;
      SELECT %s;
      SELECT record, kept_until_millis FROM records WHERE name = ? FOR UPDATE;
      """
          .formatted(Session.CLOCK);

  /** Writes the record (record, kept until, name). */
  private static final String WRITE =
      "UPDATE records SET record = ?, kept_until_millis = ? WHERE name = ?;\n";

  private final RecordUpdates updates = new RecordUpdates(this::send);

  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Kept(byte @Nullable [] record, long untilMillis) {}

  /** Creates a store, possibly with a test's clock. */
  PostgresRecordStore(PostgresSettings settings, Surroundings around) {
    super(settings, true, null, EXPIRED, around);
  }

  /**
   * Creates a store without connections.
   *
   * @param time for deadlines; records expire by the server's clock
   * @param timer for deadlines, and for the deletion of expired records
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresRecordStore connect(
      PostgresSettings settings, TimeSource time, Scheduler timer, StoreListener listener) {
    return new PostgresRecordStore(settings, new Surroundings(time, timer, listener, null));
  }

  @Override
  public <R> CompletionStage<R> update(String key, Duration keptFor, Transition<R> transition) {
    return updates.update(key, keptFor, transition);
  }

  private <R> CompletionStage<R> send(String key, long keptMillis, Transition<R> transition) {
    byte[] name = Names.of(key);
    return call(Deadline.LEASE, session -> update(session, name, keptMillis, transition));
  }

  private static <R> R update(
      Session session, byte[] name, long keptMillis, Transition<R> transition) throws SQLException {
    long now;
    long until;
    byte[] record;
    try (PreparedStatement first = session.prepare(READ, name, name)) {
      first.execute();
      now = Session.rowOf(first, row -> session.now(row.getLong(1)));
      Kept kept = Session.rowOf(first, row -> new Kept(row.getBytes(1), row.getLong(2)));
      until = kept.untilMillis;
      record = until < now ? null : kept.record;
    }
    Step<R> step = transition.apply(record, now);
    byte[] next = step.next();
    if (step.isUnchanged(record)) {
      session.rollBack();
    } else {
      session.commit(WRITE, next, next == null ? now : Math.max(until, now + keptMillis), name);
    }
    return step.result();
  }
}
