package io.throttlekit.postgres;

import io.throttlekit.store.StoreListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The epochs that this process knows. A table with another epoch has lost its rows or got older
 * ones back in between.
 *
 * <p>A process that finds no epoch, or an older one than it knows, begins the next one; rows were
 * lost if it had known an epoch before. Thread-safe.
 */
final class Epochs {
  private final String table;
  private final String schema;
  private final boolean durable;
  private final StoreListener listener;
  private volatile @Nullable Epoch known;

  /** By physical connection, until the garbage collector removes a closed one. */
  private final Map<Connection, Server> servers = Collections.synchronizedMap(new WeakHashMap<>());

  /** The server of a connection, as last read. For the thread that has the connection. */
  private static final class Server {
    Origin origin;
    boolean isCompared; // with an epoch of another setting

    Server(Origin origin) {
      this.origin = origin;
    }
  }

  /**
   * A row.
   *
   * @param lostMillis when rows were last lost before it, 0 for never
   * @param server the server that wrote last; unknown in rows of older releases
   */
  private record Epoch(UUID id, long begunMillis, long lostMillis, Origin server) {

    Epoch on(Origin other) {
      return new Epoch(id, begunMillis, lostMillis, other);
    }

    Epoch successor(long now, Origin on) {
      return new Epoch(UUID.randomUUID(), Math.max(now, begunMillis + 1), now, on);
    }
  }

  /** Thrown by a transaction that finds an unknown epoch; it is retried after {@link #settle}. */
  static final class Unknown extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Unknown() {
      super("another epoch", null, false, false);
    }
  }

  /**
   * Creates an object that knows no epoch.
   *
   * @param table with one row, the epoch
   * @param durable whether commits wait for the disk
   */
  Epochs(String schema, String table, boolean durable, StoreListener listener) {
    this.schema = schema;
    this.table = table;
    this.durable = durable;
    this.listener = listener;
  }

  /**
   * Reads the server of a new connection. In a transaction of its own, which fails if the role may
   * not read it. Blocks.
   */
  void readOrigin(Connection connection) throws SQLException {
    Connection physical = connection.unwrap(Connection.class);
    if (!servers.containsKey(physical)) {
      servers.put(physical, new Server(Origin.of(connection, durable)));
      connection.rollback();
    }
  }

  private Server serverOf(Session session) throws SQLException {
    Connection physical = session.connection.unwrap(Connection.class);
    return Objects.requireNonNull(servers.get(physical), "its origin was read");
  }

  /**
   * Returns a query of one row: {@code columns} (at least one), then those that {@link #lossOf}
   * reads.
   */
  String after(String columns) {
    return ("SELECT %s, e.id, e.begun_millis, e.lost_millis, e.history, e.synchronous"
            + " FROM (SELECT 1) here LEFT JOIN %s e ON true")
        .formatted(columns, table);
  }

  /**
   * Returns when the rows were last lost, 0 for never.
   *
   * @param column the first column of the epoch
   * @throws Unknown if the epoch is not the known one, or was written on another server
   */
  long lossOf(Session session, ResultSet row, int column) throws SQLException {
    Epoch stored = read(row, column);
    if (stored == null || !stored.equals(known) || isOfAnother(stored, serverOf(session))) {
      throw new Unknown();
    }
    return stored.lostMillis();
  }

  /** Returns whether the stored server has to be compared again. */
  private static boolean isOfAnother(Epoch stored, Server server) {
    Origin here = server.origin;
    Origin there = stored.server();
    if (!here.isKnown() || here.equals(there)) {
      return false;
    }
    // Sessions may have different settings for long. One that does not wait is recorded at once,
    // one that does once for each connection.
    if (!here.history().equals(there.history()) || there.synchronous()) {
      return true;
    }
    boolean first = !server.isCompared;
    server.isCompared = true;
    return first;
  }

  /** Reads the epoch, or begins the next one, in a transaction of its own. Blocks. */
  synchronized void settle(Connection connection, Session session) throws SQLException {
    Epoch before = known;
    Epoch stored;
    long now;
    try (PreparedStatement sql =
        connection.prepareStatement(
            "SELECT pg_advisory_xact_lock(%d); %s"
                .formatted(
                    Schema.lockKey(schema, Schema.EPOCH_LOCK) ^ table.hashCode(),
                    after(Session.CLOCK)))) {
      sql.execute();
      try (ResultSet row = Session.rowsOf(sql)) {
        row.next();
        now = session.now(row.getLong(1));
        stored = read(row, 2);
      }
    }
    Server server = serverOf(session);
    if (server.origin.isKnown()) {
      server.origin = Origin.of(connection, durable);
    }
    Origin here = server.origin;
    Epoch next = on(here, next(stored, before, now), stored, before, now);
    if (!next.equals(stored)) {
      write(connection, next);
    }
    connection.commit();
    if (before != null && next.lostMillis() > 0 && next.lostMillis() != before.lostMillis()) {
      listener.dataLost(next.lostMillis()); // before any decision without the lost rows
    }
    known = next;
    listener.persistence(here.persistence(connection));
    connection.rollback();
  }

  private static Epoch next(@Nullable Epoch stored, @Nullable Epoch known, long now) {
    if (known == null) {
      return stored == null ? new Epoch(UUID.randomUUID(), now, 0, Origin.UNKNOWN) : stored;
    }
    if (stored == null || stored.begunMillis() < known.begunMillis()) {
      return known.successor(now, Origin.UNKNOWN);
    }
    // Begun by a process that did not know of an earlier epoch.
    boolean isUnawareOfLoss = !stored.id().equals(known.id()) && stored.lostMillis() == 0;
    return isUnawareOfLoss
        ? new Epoch(stored.id(), stored.begunMillis(), stored.begunMillis(), stored.server())
        : stored;
  }

  /** Returns the epoch on this server, or the next one if the server may lack acknowledged data. */
  private static Epoch on(
      Origin here, Epoch next, @Nullable Epoch stored, @Nullable Epoch known, long now) {
    if (!here.isKnown()) {
      return next;
    }
    boolean recorded = !next.equals(stored);
    boolean lost =
        next.server().mayHaveMoreThan(here)
            || (known != null
                && known.id().equals(next.id())
                && known.server().mayHaveMoreThan(here));
    return lost && !recorded ? next.successor(now, here) : next.on(here);
  }

  private void write(Connection connection, Epoch next) throws SQLException {
    try (PreparedStatement sql =
        Session.prepare(
            connection,
            """
            INSERT INTO %s (id, begun_millis, lost_millis, history, synchronous)
              VALUES (?, ?, ?, ?, ?)
              ON CONFLICT (one) DO UPDATE SET id = excluded.id,
                begun_millis = excluded.begun_millis, lost_millis = excluded.lost_millis,
                history = excluded.history, synchronous = excluded.synchronous\
            """
                .formatted(table),
            next.id(),
            next.begunMillis(),
            next.lostMillis(),
            next.server().history(),
            next.server().synchronous())) {
      sql.execute();
    }
  }

  private static @Nullable Epoch read(ResultSet row, int column) throws SQLException {
    UUID id = row.getObject(column, UUID.class);
    if (id == null) {
      return null;
    }
    Origin server = new Origin(row.getString(column + 3), row.getBoolean(column + 4));
    return new Epoch(id, row.getLong(column + 1), row.getLong(column + 2), server);
  }
}
