package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.StoredPool;
import io.throttlekit.fairness.TenantWeight;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the tenants of one pool in one transaction. They are read and written only under the
 * lock of the pool's row, so they need none of their own.
 *
 * <p>Rows of the transaction's tenants are read at its begin. Others are read when they are needed:
 * if guarantees have changed, or a tenant is evicted.
 */
final class TenantRows implements StoredPool.Rows {
  /** Rows are kept for a clock that steps back, and longer than the row of their pool. */
  private static final long SLACK_MILLIS = 60_000;

  /** Evictions of a transaction, besides one for each new tenant: all could exceed its deadline. */
  private static final int MAX_EVICTED = 8;

  /** Where a pool's numbers have tenants of the first weight: seen ones, and then carried ones. */
  private static final int SEEN = 5;

  private static final int PER_WEIGHT = 8;

  /** The window of a row whose tenant is not active, whatever the window before has. */
  private static final long GONE = -1;

  private static final String READ =
      """
      SELECT n.number, t.weight, t.listed, t.window_end_millis, t.used, t.place
        FROM unnest(?::bytea[], ?::bytea[]) WITH ORDINALITY AS n (pool, name, number)
        JOIN $tenants t USING (pool, name);
      """;

  // An aggregate in LATERAL is computed for each range, by the index. A plan that was made while
  // there were few tenants must not visit all when there are many.
  private static final String SUMS =
      """
      SET LOCAL enable_seqscan = off;
      SELECT s.count, s.used FROM unnest(?::bytea[], ?::bytea[])
          WITH ORDINALITY AS n (first, until, number),
        LATERAL (SELECT count(*) AS count, coalesce(sum(t.used), 0)::bigint AS used FROM $tenants t
          WHERE $key >= n.first AND $key < n.until) s
        ORDER BY n.number;
      """;

  /** The expression of the index of used amounts, as in {@link #key}. */
  private static final String KEY =
      "(t.pool || int8send(t.window_end_millis) || boolsend(t.listed) || int8send(t.weight)"
          + " || int8send(t.used))";

  private static final String WRITE =
      """
      INSERT INTO $tenants AS t (pool, name, weight, listed, window_end_millis, used, place,
          kept_until_millis)
        SELECT ?::bytea, n.* FROM unnest(?::bytea[], ?::bigint[], ?::boolean[], ?::bigint[], ?::bigint[],
          ?::bigint[], ?::bigint[]) AS n
        ON CONFLICT (pool, name) DO UPDATE SET weight = excluded.weight, listed = excluded.listed,
          window_end_millis = excluded.window_end_millis, used = excluded.used,
          place = excluded.place, kept_until_millis = excluded.kept_until_millis;
      """;

  private static final String CARRY =
      """
      INSERT INTO $tenants (pool, name, weight, listed, window_end_millis, used, place,
          kept_until_millis)
        SELECT ?::bytea, n.name, n.weight, n.listed, ?, 0, n.place, ?
          FROM unnest(?::bytea[], ?::bigint[], ?::boolean[], ?::bigint[])
            AS n (name, weight, listed, place)
        ON CONFLICT (pool, name) DO NOTHING;
      """;

  private static final String DELETE = "DELETE FROM $tenants WHERE pool = ? AND name = ANY (?);\n";
  private static final String DELETE_ALL = "DELETE FROM $tenants WHERE pool = ?;\n";

  private final Session session;
  private final String table;
  private final byte[] name;
  private final byte @Nullable [] before;
  private final FairTerms terms;

  /** The names of the transaction's tenants. */
  private final Map<CounterKey, byte[]> tenants = new LinkedHashMap<>();

  private final Map<CounterKey, StoredPool.Row> known = new HashMap<>();
  private final Set<ByteBuffer> excluded = new HashSet<>();
  private final List<OldestTenants.Tenant> evicted = new ArrayList<>();
  private final OldestTenants listed;
  private final OldestTenants unlisted;
  private long @Nullable [] numbers;

  /** Whether sums over other tenants were read. */
  private boolean summed;

  private @Nullable StoredPool pool;

  /** The active tenants before the transaction. */
  private long active;

  /** Carries the exception of a query through a decision. */
  static final class Unreadable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    final SQLException reason;

    Unreadable(SQLException reason) {
      super(reason);
      this.reason = reason;
    }
  }

  /**
   * Creates an object without tenants.
   *
   * @param table of the tenants
   * @param name of the pool
   * @param before the name of the pool of the window before, if each window has a pool of its own;
   *     its rows stay as they are
   */
  TenantRows(
      Session session, String table, byte[] name, byte @Nullable [] before, FairTerms terms) {
    this.session = session;
    this.table = table;
    this.name = name;
    this.before = before;
    this.terms = terms;
    this.listed = new OldestTenants(session, table, name, before, true);
    this.unlisted = new OldestTenants(session, table, name, before, false);
  }

  /** Adds a tenant of the transaction, before the rows are read. */
  void add(FairTenant tenant) {
    if (!tenants.containsKey(tenant.key())) {
      byte[] named = Names.of(tenant.key());
      tenants.put(tenant.key(), named);
      excluded.add(ByteBuffer.wrap(named));
    }
  }

  /** Returns a query of the rows of {@link #add added} tenants (pools, names). */
  static String read(String table) {
    return named(READ, table);
  }

  /** Adds the values of {@link #read}. */
  static void addValues(Session session, Iterable<TenantRows> pools, List<@Nullable Object> values)
      throws SQLException {
    List<byte[]> ofPools = new ArrayList<>();
    List<byte[]> ofTenants = new ArrayList<>();
    for (TenantRows pool : pools) {
      for (byte[] tenant : pool.tenants.values()) {
        ofPools.add(pool.name);
        ofTenants.add(tenant);
        if (pool.before != null) {
          ofPools.add(pool.before);
          ofTenants.add(tenant);
        }
      }
    }
    Collections.addAll(values, session.names(ofPools), session.names(ofTenants));
  }

  /** Reads the result of {@link #read}. */
  static void read(ResultSet rows, Iterable<TenantRows> pools) throws SQLException {
    Map<Long, StoredPool.Row> found = new HashMap<>();
    while (rows.next()) {
      found.put(rows.getLong(1), row(rows));
    }
    long number = 0;
    for (TenantRows pool : pools) {
      for (CounterKey tenant : pool.tenants.keySet()) {
        StoredPool.Row own = found.get(++number);
        if (pool.before != null) {
          StoredPool.Row earlier = found.get(++number);
          own = own == null ? earlier : own;
        }
        if (own != null) {
          pool.known.put(tenant, own);
        }
      }
    }
  }

  /**
   * Returns the pool, after the rows were read.
   *
   * @param stored its numbers; null for a new one
   */
  StoredPool open(long @Nullable [] stored) {
    numbers = stored;
    if (stored == null) {
      known.clear(); // of an earlier pool
    }
    return opened(new StoredPool(terms, stored, known, this));
  }

  /**
   * Returns a pool that has no numbers yet, after the rows were read.
   *
   * @param earlier the numbers of the pool of the window before, if it has any
   */
  StoredPool begin(long @Nullable [] earlier, long windowEndMillis) {
    numbers = null;
    if (earlier == null) {
      known.clear();
    }
    return opened(StoredPool.next(terms, earlier, windowEndMillis, known, this));
  }

  /**
   * Returns a tenant with a bound that few evictions reach: after a rule's bound was lowered, each
   * transaction evicts some. Until it is reached, decisions differ from those in memory.
   */
  FairTenant bounded(FairTenant tenant) {
    long least = active - MAX_EVICTED;
    return tenant.terms().maxTenants() >= least
        ? tenant
        : new FairTenant(
            tenant.key(), tenant.weight(), tenant.terms().withMaxTenants(Math.toIntExact(least)));
  }

  private StoredPool opened(StoredPool opened) {
    pool = opened;
    long[] now = opened.numbers();
    for (int at = SEEN; at < now.length; at += PER_WEIGHT) {
      active += now[at] + now[at + 1];
    }
    return opened;
  }

  StoredPool pool() {
    return Objects.requireNonNull(pool, "it is open");
  }

  /** Returns whether the pool, or any tenant, has to be written. */
  boolean isChanged() {
    // Sums are written even after a refusal, or the next one would read the same rows. A new window
    // in which no tenant was charged begins again with the next charge.
    return summed || !evicted.isEmpty() || tenants.keySet().stream().anyMatch(this::isChanged);
  }

  private boolean isChanged(CounterKey tenant) {
    return !Objects.equals(known.get(tenant), pool().row(tenant));
  }

  /** Adds statements that write the changed tenants, and their values. */
  void write(StringBuilder statements, List<@Nullable Object> values) throws SQLException {
    if (numbers == null && isChanged()) {
      // Of an earlier pool that was reset, or lost in a crash without its tenants.
      statements.append(named(DELETE_ALL, table));
      values.add(name);
    }
    List<byte[]> names = new ArrayList<>();
    List<StoredPool.Row> rows = new ArrayList<>();
    List<OldestTenants.Tenant> gone = new ArrayList<>(evicted);
    for (Map.Entry<CounterKey, byte[]> tenant : tenants.entrySet()) {
      StoredPool.Row row = pool().row(tenant.getKey());
      StoredPool.Row found = known.get(tenant.getKey());
      if (row == null && found != null) {
        gone.add(new OldestTenants.Tenant(tenant.getValue(), found));
      } else if (row != null && isChanged(tenant.getKey())) {
        names.add(tenant.getValue());
        rows.add(row);
      }
    }
    if (before != null) {
      // In the window before, they stay what they are. No window is as early as this one.
      for (OldestTenants.Tenant each : gone) {
        names.add(each.name());
        rows.add(new StoredPool.Row(each.row().weight(), GONE, 0, each.row().place()));
      }
      gone.clear();
    }
    if (!rows.isEmpty()) {
      statements.append(named(WRITE, table));
      // Until the end of the next window: of the pool, if it has one window only. One that is gone
      // hides a row of the window before.
      long end = pool().numbers()[0];
      long kept = (before == null ? 1 : 2) * terms.windowMillis() + SLACK_MILLIS;
      Collections.addAll(
          values,
          name,
          session.names(names),
          session.numbers(rows.stream().map(row -> row.weight().value()).toList()),
          session.flags(rows.stream().map(row -> row.weight().listed()).toList()),
          session.numbers(rows.stream().map(StoredPool.Row::windowEndMillis).toList()),
          session.numbers(rows.stream().map(StoredPool.Row::used).toList()),
          session.numbers(rows.stream().map(StoredPool.Row::place).toList()),
          session.numbers(
              rows.stream()
                  .map(row -> (row.windowEndMillis() == GONE ? end : row.windowEndMillis()) + kept)
                  .toList()));
    }
    if (!gone.isEmpty()) {
      statements.append(named(DELETE, table));
      Collections.addAll(
          values, name, session.names(gone.stream().map(OldestTenants.Tenant::name).toList()));
    }
  }

  /**
   * Adds a statement that keeps tenants active in the next window that were evicted from this one.
   */
  void carryEvicted(TenantRows next, StringBuilder statements, List<@Nullable Object> values)
      throws SQLException {
    long end = pool().numbers()[0];
    List<OldestTenants.Tenant> seen =
        evicted.stream().filter(each -> each.row().windowEndMillis() == end).toList();
    if (!seen.isEmpty()) {
      statements.append(named(CARRY, table));
      Collections.addAll(
          values,
          next.name,
          end,
          end + 2 * terms.windowMillis() + SLACK_MILLIS,
          session.names(seen.stream().map(OldestTenants.Tenant::name).toList()),
          session.numbers(seen.stream().map(each -> each.row().weight().value()).toList()),
          session.flags(seen.stream().map(each -> each.row().weight().listed()).toList()),
          session.numbers(seen.stream().map(each -> each.row().place()).toList()));
    }
  }

  @Override
  public List<StoredPool.Sum> sums(List<StoredPool.Range> ranges) {
    summed = true;
    List<byte[]> first = new ArrayList<>();
    List<byte[]> until = new ArrayList<>();
    for (StoredPool.Range range : ranges) {
      first.add(key(range.weight(), range.from()));
      until.add(key(range.weight(), range.to()));
    }
    String query = named(SUMS, table).replace("$key", KEY);
    try (PreparedStatement sql =
        session.prepare(query, session.names(first), session.names(until))) {
      sql.execute();
      List<StoredPool.Sum> sums = new ArrayList<>();
      try (ResultSet rows = Session.rowsOf(sql)) {
        while (rows.next()) {
          sums.add(new StoredPool.Sum(rows.getLong(1), rows.getLong(2)));
        }
      }
      return sums;
    } catch (SQLException e) {
      throw new Unreadable(e);
    }
  }

  /** Returns where a used amount is in the index. Numbers from 0 have the order of their bytes. */
  private byte[] key(TenantWeight weight, long used) {
    return ByteBuffer.allocate(name.length + 3 * Long.BYTES + 1)
        .put(name)
        .putLong(Objects.requireNonNull(numbers, "it has rows")[0])
        .put((byte) (weight.listed() ? 1 : 0))
        .putLong(weight.value())
        .putLong(used)
        .array();
  }

  @Override
  public StoredPool.@Nullable Row oldest(boolean amongListed, long activeFromMillis) {
    OldestTenants.Tenant oldest =
        (amongListed ? listed : unlisted).first(activeFromMillis, excluded);
    return oldest == null ? null : oldest.row();
  }

  @Override
  public void evict(StoredPool.Row oldest) {
    evicted.add((oldest.weight().listed() ? listed : unlisted).remove());
  }

  /** Returns SQL with the name of a table. */
  static String named(String sql, String table) {
    return sql.replace("$tenants", table);
  }

  /** Reads weight, listed, window, used and place. */
  static StoredPool.Row row(ResultSet row) throws SQLException {
    TenantWeight weight = new TenantWeight(row.getLong(2), row.getBoolean(3));
    return new StoredPool.Row(weight, row.getLong(4), row.getLong(5), row.getLong(6));
  }
}
