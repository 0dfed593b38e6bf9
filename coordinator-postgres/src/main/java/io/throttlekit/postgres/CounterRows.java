package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.postgres.Session.SqlFunction;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.HeldCounters;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one transaction's counters: locked, read, and written back if they changed.
 *
 * <p>Rows are locked in the order of their names, so transactions cannot deadlock. Missing rows are
 * created first, because only an existing row can be locked; other transactions that need them
 * wait. The lock of a counter that tenants share is also that of its tenants' rows.
 */
final class CounterRows {
  /** The table of the tenants. */
  static final String TENANTS = "tenants";

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

  /** The tenants of counters that tenants share. */
  private final Map<CounterKey, TenantRows> pools = new LinkedHashMap<>();

  /** The calls that are to be recorded, by their rows. */
  private final Map<CounterKey, AnsweredCalls> answered = new LinkedHashMap<>();

  /** The counters, which decide. */
  final HeldCounters held;

  /**
   * A row.
   *
   * @param stored the state as read
   * @param found the state before the decisions; absent for a counter that tenants share
   */
  @SuppressWarnings("ArrayRecordComponent") // rows are not compared
  private record Row(
      CounterKey key,
      RateAlgorithm<?> algorithm,
      byte[] name,
      byte @Nullable [] stored,
      @Nullable Object found,
      long keptUntilMillis,
      @Nullable Array calls) {}

  /**
   * A request that is decided on locked rows.
   *
   * @param charges of the counters to lock
   * @param callKey the row of its recorded calls; absent for a call that is never repeated
   * @param decide decides, without a commit
   */
  record Request<T>(
      List<Charge> charges, @Nullable CounterKey callKey, SqlFunction<CounterRows, T> decide) {
    /** Returns the request of a lease or a return. */
    static <T> Request<T> of(LeaseRequest lease, SqlFunction<CounterRows, T> decide) {
      Charge look = new Charge(lease.key(), lease.window(), 0, Overrun.COUNT, lease.tenant());
      // The calls of a tenant have a row of their own, which outlives an eviction.
      return new Request<>(List.of(look), lease.id() == null ? null : lease.callKey(), decide);
    }

    Supplier<?> answer(CounterRows rows) throws SQLException {
      try {
        T answer = decide.apply(rows);
        return () -> answer;
      } catch (AnsweredCalls.Overtaken e) { // has changed nothing
        return () -> {
          throw e;
        };
      }
    }
  }

  /** Answers requests in their order and commits. */
  static List<Supplier<?>> answer(
      Session session, Epochs epochs, List<? extends Request<?>> requests) throws SQLException {
    CounterRows rows = new CounterRows(session, epochs, requests);
    List<Supplier<?>> answers = new ArrayList<>();
    for (Request<?> request : requests) {
      answers.add(request.answer(rows));
    }
    rows.commit();
    return answers;
  }

  /** Locks and reads the rows of the counters that are charged, and then the clock. */
  private CounterRows(Session session, Epochs epochs, List<? extends Request<?>> requests)
      throws SQLException {
    this.session = session;
    Map<CounterKey, RateAlgorithm<?>> counters = new LinkedHashMap<>();
    List<Charge> charges =
        requests.stream().flatMap(request -> request.charges().stream()).toList();
    for (Charge charge : charges) {
      counters.put(charge.key(), charge.algorithm());
      FairTenant tenant = charge.tenant();
      if (tenant != null) {
        pools
            .computeIfAbsent(
                charge.key(),
                key -> new TenantRows(session, TENANTS, Names.of(key), null, tenant.terms()))
            .add(tenant);
      }
    }
    for (Request<?> request : requests) {
      if (request.callKey() != null) {
        counters.putIfAbsent(request.callKey(), request.charges().getFirst().algorithm());
      }
    }
    this.held = read(epochs, counters);
    for (Row row : rows) {
      TenantRows pool = pools.get(row.key());
      Object state = row.found();
      if (pool != null) {
        state = pool.open(row.stored() == null ? null : States.decode(row.stored())).pool();
      }
      held.hold(row.key(), row.algorithm(), state);
    }
  }

  private HeldCounters read(Epochs epochs, Map<CounterKey, RateAlgorithm<?>> counters)
      throws SQLException {
    List<CounterKey> keys = List.copyOf(counters.keySet());
    List<byte[]> names = keys.stream().map(Names::of).toList();
    Array all = session.names(names);
    List<@Nullable Object> values = new ArrayList<>(List.of(all, all));
    String tenants = "";
    if (!pools.isEmpty()) {
      tenants = TenantRows.read(TENANTS);
      TenantRows.addValues(session, pools.values(), values);
    }
    try (PreparedStatement sql =
        session.prepare(LOCK + tenants + epochs.after(Session.CLOCK), values.toArray())) {
      sql.execute();
      try (ResultSet found = Session.rowsOf(sql)) {
        while (found.next()) {
          int place = found.getInt(1) - 1;
          CounterKey key = keys.get(place);
          RateAlgorithm<?> algorithm = Objects.requireNonNull(counters.get(key));
          byte[] stored = found.getBytes(2);
          boolean isState = stored != null && !pools.containsKey(key);
          Object state = isState ? States.decode(algorithm, stored) : null;
          rows.add(
              new Row(
                  key,
                  algorithm,
                  names.get(place),
                  stored,
                  state,
                  found.getLong(3),
                  found.getArray(4)));
        }
      }
      if (!pools.isEmpty()) {
        try (ResultSet found = Session.rowsOf(sql)) {
          TenantRows.read(found, pools.values());
        }
      }
      return Session.rowOf(
          sql,
          row -> new HeldCounters(session.now(row.getLong(1)), epochs.lossOf(session, row, 2)));
    }
  }

  /** Decides on the counters. */
  Outcome acquire(List<Claim> claims) {
    return held.acquire(pools.isEmpty() ? claims : claims.stream().map(this::bounded).toList());
  }

  private Claim bounded(Claim claim) {
    List<Charge> charges =
        claim.charges().stream()
            .map(charge -> {
              FairTenant tenant = bounded(charge.key(), charge.tenant());
              return new Charge(
                  charge.key(), charge.algorithm(), charge.cost(), charge.overrun(), tenant);
            })
            .toList();
    return new Claim(claim.role(), charges, claim.onDataLoss());
  }

  private LeaseRequest bounded(LeaseRequest request) {
    FairTenant tenant = bounded(request.key(), request.tenant());
    return tenant == null ? request : request.of(tenant);
  }

  private @Nullable FairTenant bounded(CounterKey key, @Nullable FairTenant tenant) {
    TenantRows rows = tenant == null ? null : pools.get(key);
    return tenant == null || rows == null ? tenant : rows.bounded(tenant);
  }

  /** Leases from a counter; a repeated call gets its earlier answer. */
  LeaseGrant lease(LeaseRequest wanted) throws SQLException {
    LeaseRequest request = bounded(wanted);
    if (request.id() == null) {
      return held.lease(request);
    }
    AnsweredCalls calls = calls(request);
    OptionalLong known = calls.answerTo(request.id());
    LeaseGrant grant =
        known.isPresent() ? held.granted(request, known.getAsLong()) : held.lease(request);
    // Also for a repeated call: the commit that counted it may have given up waiting for its
    // standby, and this commit waits for both.
    answered.put(request.callKey(), calls.with(request.id(), grant.units()));
    return grant;
  }

  /** Returns units to a counter, once for each call. */
  void returnUnits(LeaseRequest leased, long windowEndMillis, long units) throws SQLException {
    LeaseRequest lease = bounded(leased);
    if (lease.id() == null) {
      held.returnUnits(lease, windowEndMillis, units);
      return;
    }
    AnsweredCalls calls = calls(lease);
    // Units of another window need no record: they have no effect.
    if (calls.windowEndMillis() != windowEndMillis) {
      held.returnUnits(lease, windowEndMillis, units);
    } else if (calls.answerTo(lease.id()).isEmpty()) {
      held.returnUnits(lease, windowEndMillis, units);
      answered.put(lease.callKey(), calls.with(lease.id(), units));
    }
  }

  /** Forgets a tenant of the only counter. */
  void resetTenant(FairTenant tenant) {
    for (TenantRows pool : pools.values()) {
      pool.pool().pool().reset(tenant);
    }
  }

  /** Returns the calls that were answered in the current window. */
  private AnsweredCalls calls(LeaseRequest request) throws SQLException {
    AnsweredCalls known = answered.get(request.callKey());
    if (known != null) {
      return known;
    }
    long window = held.granted(request, 0).windowEndMillis();
    return AnsweredCalls.of(row(request.callKey()).calls(), window);
  }

  private Row row(CounterKey key) {
    return rows.stream().filter(row -> row.key().equals(key)).findFirst().orElseThrow();
  }

  /** Writes what has changed and commits; rolls back if nothing has. */
  private void commit() throws SQLException {
    StringBuilder statements = new StringBuilder();
    List<@Nullable Object> values = new ArrayList<>();
    boolean changed = addChanged(statements, values);
    for (Map.Entry<CounterKey, AnsweredCalls> each : answered.entrySet()) {
      Row row = row(each.getKey());
      AnsweredCalls calls = each.getValue();
      Object state = held.state(row.key());
      byte @Nullable [] encoded = state == null ? null : States.encode(row.algorithm(), state);
      long keptUntil = keptUntil(row, calls.windowEndMillis());
      statements.append(WRITE_CALL);
      Collections.addAll(values, encoded, keptUntil, calls.column(session), row.name());
    }
    if (!changed && answered.isEmpty()) {
      session.rollBack(); // also removes rows that were created for the lock
      return;
    }
    List<byte[]> unused = rows.stream().filter(this::isUnused).map(Row::name).toList();
    if (!unused.isEmpty()) {
      statements.append(DROP);
      values.add(session.names(unused));
    }
    session.commit(statements.toString(), values.toArray());
  }

  /** Adds statements that write what has changed, and their values; returns whether any has. */
  private boolean addChanged(StringBuilder statements, List<@Nullable Object> values)
      throws SQLException {
    List<byte[]> names = new ArrayList<>();
    List<byte[]> states = new ArrayList<>();
    List<Long> keptUntil = new ArrayList<>();
    boolean changed = false;
    for (Row row : rows) {
      TenantRows pool = pools.get(row.key());
      if (pool == null && !answered.containsKey(row.key())) {
        Object state = held.state(row.key());
        if (!Objects.equals(state, row.found())) {
          changed = true;
          if (state != null) {
            names.add(row.name());
            states.add(States.encode(row.algorithm(), state));
            keptUntil.add(keptUntil(row, unusedFrom(row.algorithm(), state)));
          }
        }
      } else if (pool != null && pool.isChanged()) {
        changed = true;
        names.add(row.name());
        states.add(States.encode(pool.pool().numbers()));
        keptUntil.add(keptUntil(row, pool.pool().pool().unusedFromMillis()));
      }
    }
    if (changed) {
      statements.append(WRITE);
      Collections.addAll(
          values, session.names(names), session.names(states), session.numbers(keptUntil));
      for (TenantRows pool : pools.values()) {
        pool.write(statements, values);
      }
    }
    return changed;
  }

  /** Returns whether nothing is stored in a row; it was created for the lock, or has been reset. */
  private boolean isUnused(Row row) {
    TenantRows pool = pools.get(row.key());
    boolean hasState =
        pool == null ? held.state(row.key()) != null : row.stored() != null || pool.isChanged();
    return !hasState && row.calls() == null && !answered.containsKey(row.key());
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
