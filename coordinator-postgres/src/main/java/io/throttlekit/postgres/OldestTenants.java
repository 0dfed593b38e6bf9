package io.throttlekit.postgres;

import io.throttlekit.fairness.StoredPool;
import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The active tenants of a pool with a listed weight, or those without, in the order in which they
 * are evicted: read a few at a time, as they were before the transaction.
 */
final class OldestTenants {
  private static final String OLDEST =
      """
      SET LOCAL enable_seqscan = off;
      SELECT name, weight, listed, window_end_millis, used, place FROM $tenants
        WHERE $key >= ? AND $key < ? ORDER BY $key LIMIT ?;
      """;

  /** As above, with those of the window before that have no row in the pool's own. */
  private static final String OLDEST_OF_TWO =
      """
      SET LOCAL enable_seqscan = off;
      SELECT * FROM ((SELECT name, weight, listed, window_end_millis, used, place FROM $tenants
          WHERE $key >= ? AND $key < ? AND window_end_millis >= ? ORDER BY $key LIMIT ?)
        UNION ALL (SELECT name, weight, listed, window_end_millis, used, place FROM $tenants b
          WHERE $key >= ? AND $key < ? AND window_end_millis >= ?
            AND NOT EXISTS (SELECT FROM $tenants o WHERE o.pool = ? AND o.name = b.name)
          ORDER BY $key LIMIT ?)) AS n
        ORDER BY place LIMIT ?;
      """;

  /** The expression of the index of a table whose pools have several windows. */
  private static final String KEY =
      "(pool || boolsend(listed) || int8send(window_end_millis) || int8send(place))";

  private static final String KEY_IN_ONE_WINDOW = "(pool || boolsend(listed) || int8send(place))";

  /** The rows of the first reading, and the factor by which each next one has more. */
  private static final int FIRST = 2;

  private static final int GROWTH = 8;

  private static final int MAX_ROWS = 1_000;

  private final Session session;
  private final String table;
  private final byte[] pool;
  private final byte @Nullable [] before;
  private final boolean listed;
  private final Deque<Tenant> ahead = new ArrayDeque<>();
  private long nextWindow;
  private long nextPlace;
  private int limit = FIRST;
  private boolean isRead;

  /** A tenant by the name of its row. */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  record Tenant(byte[] name, StoredPool.Row row) {}

  /**
   * Creates an object; nothing is read yet.
   *
   * @param before the name of the pool of the window before, if it is another one
   */
  OldestTenants(
      Session session, String table, byte[] pool, byte @Nullable [] before, boolean listed) {
    this.session = session;
    this.table = table;
    this.pool = pool;
    this.before = before;
    this.listed = listed;
  }

  /** Returns the first tenant whose name is not excluded; null if there is none. */
  @Nullable Tenant first(long activeFromMillis, Set<ByteBuffer> excluded) {
    nextWindow = Math.max(nextWindow, activeFromMillis);
    while (true) {
      Tenant first = ahead.peek();
      if (first == null) {
        if (!readAhead()) {
          return null;
        }
      } else if (first.row().windowEndMillis() < activeFromMillis
          || excluded.contains(ByteBuffer.wrap(first.name()))) {
        ahead.remove();
      } else {
        return first;
      }
    }
  }

  /** Removes and returns the tenant that {@link #first} returned last. */
  Tenant remove() {
    return ahead.remove();
  }

  /** Reads more rows; returns whether there were any. */
  private boolean readAhead() {
    if (isRead) {
      return false;
    }
    List<Object> values = new ArrayList<>();
    String query;
    if (before == null) {
      query = TenantRows.named(OLDEST, table).replace("$key", KEY);
      byte[] first = key(pool, nextWindow, nextPlace);
      Collections.addAll(values, first, key(pool, Long.MAX_VALUE, 0), limit);
    } else {
      query = TenantRows.named(OLDEST_OF_TWO, table).replace("$key", KEY_IN_ONE_WINDOW);
      byte[] first = key(pool, nextPlace);
      Collections.addAll(values, first, key(pool, Long.MAX_VALUE), nextWindow, limit);
      first = key(before, nextPlace);
      Collections.addAll(values, first, key(before, Long.MAX_VALUE), nextWindow, pool);
      Collections.addAll(values, limit, limit);
    }
    try (PreparedStatement sql = session.prepare(query, values.toArray())) {
      sql.execute();
      try (ResultSet rows = Session.rowsOf(sql)) {
        while (rows.next()) {
          ahead.add(new Tenant(rows.getBytes(1), TenantRows.row(rows)));
        }
      }
    } catch (SQLException e) {
      throw new TenantRows.Unreadable(e);
    }
    isRead = ahead.size() < limit;
    limit = Math.min(GROWTH * limit, MAX_ROWS);
    Tenant last = ahead.peekLast();
    if (last != null) {
      nextWindow = before == null ? last.row().windowEndMillis() : nextWindow;
      nextPlace = last.row().place() + 1;
    }
    return last != null;
  }

  /** Returns where a place is in the index. Numbers from 0 have the order of their bytes. */
  private byte[] key(byte[] of, long... numbers) {
    ByteBuffer key = ByteBuffer.allocate(of.length + 1 + numbers.length * Long.BYTES);
    key.put(of).put((byte) (listed ? 1 : 0));
    for (long number : numbers) {
      key.putLong(number);
    }
    return key.array();
  }
}
