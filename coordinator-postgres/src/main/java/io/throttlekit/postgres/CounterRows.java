package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.HeldCounters;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one transaction's counters: locked, read, and written back if they changed.
 *
 * <p>Rows are locked in the order of their names, so transactions cannot deadlock. Missing rows are
 * created first, because only an existing row can be locked; other transactions that need them
 * wait.
 */
final class CounterRows {
  private static final String LOCK =
      """
      INSERT INTO counters (name) SELECT n.name FROM unnest(?::bytea[]) AS n (name) ORDER BY n.name
        ON CONFLICT (name) DO UPDATE SET name = excluded.name WHERE false;
      SELECT n.place, c.state, c.kept_until_millis, c.calls
        FROM unnest(?::bytea[]) WITH ORDINALITY AS n (name, place) JOIN counters c USING (name);
      """;
  private static final String WRITE =
      """
      UPDATE counters c SET state = n.state, kept_until_millis = n.kept_until_millis
        FROM unnest(?::bytea[], ?::bytea[], ?::bigint[]) AS n (name, state, kept_until_millis)
        WHERE c.name = n.name;
      """;
  private static final String WRITE_CALL =
      "UPDATE counters SET state = ?, kept_until_millis = ?, calls = ? WHERE name = ?;";
  private static final String DROP = "DELETE FROM counters WHERE name = ANY (?);";
  // As in memory: a counter outlives its window by one window, within these bounds.
  private static final long MIN_SLACK_MILLIS = 1_000;
  private static final long MAX_SLACK_MILLIS = 60_000;

  private final Session session;
  private final List<Row> rows = new ArrayList<>();

  /** The counters, which decide. */
  final HeldCounters held;

  @SuppressWarnings("ArrayRecordComponent") // rows are not compared
  private record Row(
      CounterKey key,
      RateAlgorithm<?> algorithm,
      byte[] name,
      @Nullable Object found,
      long keptUntilMillis,
      @Nullable Array calls) {}

  /** Locks and reads the rows of {@code counters}, and then the clock. */
  CounterRows(Session session, Epochs epochs, Map<CounterKey, RateAlgorithm<?>> counters)
      throws SQLException {
    this.session = session;
    List<CounterKey> keys = List.copyOf(counters.keySet());
    List<byte[]> names = keys.stream().map(Names::of).toList();
    Array all = session.names(names);
    try (PreparedStatement sql = session.prepare(LOCK + epochs.after(Session.CLOCK), all, all)) {
      sql.execute();
      try (ResultSet found = Session.rowsOf(sql)) {
        while (found.next()) {
          int place = found.getInt(1) - 1;
          CounterKey key = keys.get(place);
          RateAlgorithm<?> algorithm = Objects.requireNonNull(counters.get(key));
          byte[] stored = found.getBytes(2);
          Object state = stored == null ? null : States.decode(algorithm, stored);
          rows.add(
              new Row(
                  key, algorithm, names.get(place), state, found.getLong(3), found.getArray(4)));
        }
      }
      this.held =
          Session.rowOf(
              sql,
              row -> new HeldCounters(session.now(row.getLong(1)), epochs.lossOf(session, row, 2)));
    }
    for (Row row : rows) {
      held.hold(row.key(), row.algorithm(), row.found());
    }
  }

  /** Leases from the only row and commits; a repeated call gets its earlier answer. */
  LeaseGrant lease(LeaseRequest request) throws SQLException {
    Row row = rows.getFirst();
    if (request.id() == null) {
      LeaseGrant grant = held.lease(request);
      write();
      return grant;
    }
    AnsweredCalls calls = calls(row, request);
    OptionalLong answered = calls.answerTo(request.id());
    LeaseGrant grant =
        answered.isPresent() ? held.granted(request, answered.getAsLong()) : held.lease(request);
    // Also for a repeated call: the commit that counted it may have given up waiting for its
    // standby, and this commit waits for both.
    write(row, calls.with(request.id(), grant.units()));
    return grant;
  }

  /** Returns units to the only row and commits, once for each call. */
  void returnUnits(LeaseRequest lease, long windowEndMillis, long units) throws SQLException {
    Row row = rows.getFirst();
    AnsweredCalls calls = calls(row, lease);
    // Units of another window need no record: they have no effect.
    if (lease.id() == null || calls.windowEndMillis() != windowEndMillis) {
      held.returnUnits(lease, windowEndMillis, units);
      write();
    } else if (calls.answerTo(lease.id()).isPresent()) {
      session.rollBack();
    } else {
      held.returnUnits(lease, windowEndMillis, units);
      write(row, calls.with(lease.id(), units));
    }
  }

  /** Returns the calls that were answered in the current window. */
  private AnsweredCalls calls(Row row, LeaseRequest request) throws SQLException {
    return AnsweredCalls.of(row.calls(), held.granted(request, 0).windowEndMillis());
  }

  private void write(Row row, AnsweredCalls calls) throws SQLException {
    Object state = held.state(row.key());
    byte @Nullable [] encoded = state == null ? null : States.encode(row.algorithm(), state);
    long keptUntil = keptUntil(row, calls.windowEndMillis());
    session.commit(WRITE_CALL, encoded, keptUntil, calls.column(session), row.name());
  }

  /** Writes the changed rows and commits; rolls back if none changed. */
  void write() throws SQLException {
    List<byte[]> names = new ArrayList<>();
    List<byte[]> states = new ArrayList<>();
    List<Long> keptUntil = new ArrayList<>();
    List<byte[]> unused = new ArrayList<>();
    boolean changed = false;
    for (Row row : rows) {
      Object state = held.state(row.key());
      changed |= !Objects.equals(state, row.found());
      if (state == null && row.calls() == null) {
        unused.add(row.name());
      } else if (state != null && !state.equals(row.found())) {
        names.add(row.name());
        states.add(States.encode(row.algorithm(), state));
        keptUntil.add(keptUntil(row, unusedFrom(row.algorithm(), state)));
      }
    }
    if (!changed) {
      session.rollBack(); // also removes rows that were created for the lock
      return;
    }
    List<Object> values = new ArrayList<>();
    Collections.addAll(
        values, session.names(names), session.names(states), session.numbers(keptUntil));
    if (!unused.isEmpty()) {
      values.add(session.names(unused));
    }
    String statements = unused.isEmpty() ? WRITE : WRITE + DROP;
    session.commit(statements, values.toArray());
  }

  /**
   * Returns until when the row is kept. Moved only when needed, because each move updates the
   * index, too.
   */
  private static long keptUntil(Row row, long neededUntilMillis) {
    long slack = Math.clamp(row.algorithm().windowMillis(), MIN_SLACK_MILLIS, MAX_SLACK_MILLIS);
    return neededUntilMillis <= row.keptUntilMillis() - slack / 2
        ? row.keptUntilMillis()
        : neededUntilMillis + slack;
  }

  @SuppressWarnings("unchecked") // the state came from this algorithm
  private static <S> long unusedFrom(RateAlgorithm<S> algorithm, Object state) {
    return algorithm.unusedFromMillis((S) state);
  }
}
