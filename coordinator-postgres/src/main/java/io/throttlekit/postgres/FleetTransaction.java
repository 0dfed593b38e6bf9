package io.throttlekit.postgres;

import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.FleetState;
import io.throttlekit.share.FleetState.NodeKey;
import io.throttlekit.share.FleetState.Outcome;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.NodeState;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Status;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A transaction on one concurrency limit, under the lock of its row. */
final class FleetTransaction {
  /**
   * How long a limit is kept after its last steering lease: with the slack longer than any lease.
   */
  private static final long KEPT_MILLIS = 3_600_000;

  /** Numbers of a digest before its latencies; the last of them is the number of latencies. */
  private static final int DIGEST_NUMBERS = 9;

  /** Locks the row of a limit, and creates it if needed; see {@link BudgetTransaction}. */
  private static final String LOCK =
      """
      INSERT INTO fleets (name) VALUES (?)
        ON CONFLICT (name) DO UPDATE SET name = excluded.name WHERE false;
      """;

  private static final String FLEET =
      """
      SELECT concurrency_limit, epoch, steering, steering_incarnation, steering_until_millis,
          frequent
        FROM fleets WHERE name = ?;
      """;

  /** Reads the nodes of a limit, and the digests of one of them (node, incarnation, fleet). */
  private static final String NODES =
      """
      SELECT node, incarnation, local_limit, sampled, in_flight, peak, waiting, share, generation,
          may_apply, sequence, until_millis, has_left, permit_millis,
          CASE WHEN node = ? AND incarnation = ? THEN digests END
        FROM fleet_nodes WHERE fleet = ?;
      """;

  private static final String DIGESTS =
      "SELECT node, incarnation, digests FROM fleet_nodes WHERE fleet = ? AND digests IS NOT NULL";
  private static final String CLEAR_DIGESTS =
      "UPDATE fleet_nodes SET digests = NULL WHERE fleet = ? AND digests IS NOT NULL;\n";
  private static final String DELETE_NODES =
      """
      DELETE FROM fleet_nodes n USING unnest(?, ?) AS gone (node, incarnation)
        WHERE n.fleet = ? AND n.node = gone.node AND n.incarnation = gone.incarnation;
      """;
  private static final String WRITE_NODE =
      """
      INSERT INTO fleet_nodes (fleet, node, incarnation, local_limit, sampled, in_flight, peak,
          waiting, share, generation, may_apply, sequence, until_millis, has_left, permit_millis,
          digests)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (fleet, node, incarnation) DO UPDATE SET
          local_limit = excluded.local_limit, sampled = excluded.sampled,
          in_flight = excluded.in_flight, peak = excluded.peak, waiting = excluded.waiting,
          share = excluded.share, generation = excluded.generation,
          may_apply = excluded.may_apply, sequence = excluded.sequence,
          until_millis = excluded.until_millis, has_left = excluded.has_left,
          permit_millis = excluded.permit_millis,
          digests = excluded.digests;
      """;
  private static final String WRITE_FLEET =
      """
      UPDATE fleets SET concurrency_limit = ?, epoch = ?, steering = ?, steering_incarnation = ?,
          steering_until_millis = ?, frequent = ?, kept_until_millis = ? WHERE name = ?;
      """;

  /** Has no digests that would be read. */
  private static final NodeKey NO_NODE = new NodeKey("", 0);

  private final Session session;
  private final Epochs epochs;
  private final byte[] name;
  private final long lockMillis;

  private long now;

  /** As stored, without the digests of other nodes: only the steering node gets these. */
  private FleetState stored = FleetState.EMPTY;

  /** The statements to execute before the commit, and the values of their parameters. */
  private final StringBuilder statements = new StringBuilder();

  private final List<@Nullable Object> values = new ArrayList<>();

  /**
   * Creates a transaction.
   *
   * @param lockMillis the longest wait for the lock: meanwhile its connection serves no other limit
   */
  FleetTransaction(Session session, Epochs epochs, String key, long lockMillis) {
    this.lockMillis = lockMillis;
    this.session = session;
    this.epochs = epochs;
    this.name = Names.of(key);
  }

  /** Records a heartbeat. */
  ShareGrant heartbeat(Coordination terms, Heartbeat beat) throws SQLException {
    NodeKey self = new NodeKey(beat.node(), beat.incarnation());
    read(self);
    Outcome outcome = stored.heartbeat(terms, beat, now);
    FleetState next = outcome.next();
    ShareGrant grant = outcome.grant();
    if (grant.epoch() > 0) {
      grant = withAllDigests().heartbeat(terms, beat, now).grant();
    }
    if (!grant.digests().isEmpty()) {
      add(CLEAR_DIGESTS, name);
    }
    writeNodes(next);
    writeFleet(next);
    NodeState node = next.nodes().get(self);
    if (statements.isEmpty() && node != null && grant.status() == Status.MEMBER) {
      // A repeated heartbeat is written again: the commit that recorded it may have given up
      // waiting for its standby, and this commit waits for both.
      write(self, node);
    }
    commit();
    return grant;
  }

  /** Removes a node. */
  void leave(Departure departure) throws SQLException {
    read(new NodeKey(departure.node(), departure.incarnation()));
    writeNodes(stored.leave(departure, now));
    commit();
  }

  /** Lowers what is reserved for a process that is no member any more. */
  void released(ReleasedPermits released) throws SQLException {
    read(NO_NODE);
    writeNodes(stored.released(released, now));
    commit();
  }

  private void read(NodeKey self) throws SQLException {
    String wait = "SET LOCAL lock_timeout = " + lockMillis + ";\n";
    String clock = epochs.after(Session.CLOCK) + ";\n";
    String read = wait + LOCK + clock + FLEET + NODES;
    try (PreparedStatement sql =
        session.prepare(read, name, name, self.node(), self.incarnation(), name)) {
      sql.execute();
      now =
          Session.rowOf(
              sql,
              row -> {
                long _ = epochs.lossOf(session, row, 2); // notifies of a loss
                return session.now(row.getLong(1));
              });
      FleetState fleet = Session.rowOf(sql, FleetTransaction::fleet);
      Map<NodeKey, NodeState> nodes = new TreeMap<>();
      try (ResultSet rows = Session.rowsOf(sql)) {
        while (rows.next()) {
          nodes.put(new NodeKey(rows.getString(1), rows.getLong(2)), node(rows));
        }
      }
      stored = with(fleet, nodes);
    }
  }

  private FleetState withAllDigests() throws SQLException {
    Map<NodeKey, NodeState> nodes = new TreeMap<>(stored.nodes());
    try (PreparedStatement sql = session.prepare(DIGESTS, name);
        ResultSet rows = sql.executeQuery()) {
      while (rows.next()) {
        List<SampleDigest> digests = digests(rows.getArray(3));
        nodes.computeIfPresent(
            new NodeKey(rows.getString(1), rows.getLong(2)), (_, node) -> with(node, digests));
      }
    }
    return with(stored, nodes);
  }

  /** Adds the statements for the nodes that differ from what is stored. */
  private void writeNodes(FleetState next) throws SQLException {
    List<NodeKey> gone = new ArrayList<>(stored.nodes().keySet());
    gone.removeAll(next.nodes().keySet());
    if (!gone.isEmpty()) {
      Array ids = session.texts(gone.stream().map(NodeKey::node).toList());
      Array incarnations = session.numbers(gone.stream().map(NodeKey::incarnation).toList());
      add(DELETE_NODES, ids, incarnations, name);
    }
    for (Map.Entry<NodeKey, NodeState> each : next.nodes().entrySet()) {
      if (!each.getValue().equals(stored.nodes().get(each.getKey()))) {
        write(each.getKey(), each.getValue());
      }
    }
  }

  private void write(NodeKey key, NodeState node) throws SQLException {
    add(WRITE_NODE, name, key.node(), key.incarnation());
    Collections.addAll(values, node.localLimit(), node.sampled(), node.inFlight(), node.peak());
    Collections.addAll(values, node.waiting(), node.share(), node.generation(), node.mayApply());
    Collections.addAll(values, node.sequence(), node.untilMillis(), node.left());
    values.add(node.permitMillis());
    values.add(column(node.digests()));
  }

  private void writeFleet(FleetState next) {
    // The steering node always changes the row, so the time until which it is kept is renewed, too.
    if (!next.equals(with(stored, next.nodes()))) {
      NodeKey steering = next.steering();
      add(
          WRITE_FLEET,
          next.limit(),
          next.epoch(),
          steering == null ? null : steering.node(),
          steering == null ? 0 : steering.incarnation(),
          next.steeringUntilMillis(),
          next.frequent(),
          keptUntil(next),
          name);
    }
  }

  /** Returns until when the row is kept: with the slack longer than any request may last. */
  private long keptUntil(FleetState fleet) {
    return fleet.nodes().values().stream()
        .mapToLong(node -> node.untilMillis() + (node.left() ? 0 : node.permitMillis()))
        .reduce(now + KEPT_MILLIS, Math::max);
  }

  private void add(String statement, @Nullable Object... parameters) {
    statements.append(statement);
    Collections.addAll(values, parameters);
  }

  private void commit() throws SQLException {
    if (statements.isEmpty()) {
      session.rollBack();
    } else {
      session.commit(statements.toString(), values.toArray());
    }
  }

  private static FleetState fleet(ResultSet row) throws SQLException {
    String steering = row.getString(3);
    return new FleetState(
        new TreeMap<>(),
        row.getInt(1),
        row.getLong(2),
        steering == null ? null : new NodeKey(steering, row.getLong(4)),
        row.getLong(5),
        row.getBoolean(6));
  }

  private static FleetState with(FleetState fleet, Map<NodeKey, NodeState> nodes) {
    return new FleetState(
        new TreeMap<>(nodes),
        fleet.limit(),
        fleet.epoch(),
        fleet.steering(),
        fleet.steeringUntilMillis(),
        fleet.frequent());
  }

  private static NodeState node(ResultSet row) throws SQLException {
    return new NodeState(
        row.getInt(3),
        row.getBoolean(4),
        row.getInt(5),
        row.getInt(6),
        row.getBoolean(7),
        row.getInt(8),
        row.getLong(9),
        row.getInt(10),
        row.getLong(11),
        row.getLong(12),
        row.getLong(14),
        row.getBoolean(13),
        digests(row.getArray(15)));
  }

  private static NodeState with(NodeState node, List<SampleDigest> digests) {
    return new NodeState(
        node.localLimit(),
        node.sampled(),
        node.inFlight(),
        node.peak(),
        node.waiting(),
        node.share(),
        node.generation(),
        node.mayApply(),
        node.sequence(),
        node.untilMillis(),
        node.permitMillis(),
        node.left(),
        digests);
  }

  /** Reads digests; none if other programs have written what can't be read. */
  private static List<SampleDigest> digests(@Nullable Array column) throws SQLException {
    try {
      return column == null ? List.of() : digests(List.of((Long[]) column.getArray()));
    } catch (RuntimeException _) { // nulls, dimensions, lengths: they must not end the heartbeats
      return List.of();
    }
  }

  private static List<SampleDigest> digests(List<Long> numbers) {
    List<SampleDigest> digests = new ArrayList<>();
    for (int i = 0; i < numbers.size(); ) {
      int from = i + DIGEST_NUMBERS;
      int end = from + Math.toIntExact(numbers.get(from - 1));
      digests.add(
          new SampleDigest(
              numbers.get(i),
              numbers.get(i + 1),
              numbers.get(i + 2),
              Math.toIntExact(numbers.get(i + 3)),
              numbers.get(i + 4) == 1,
              new RequestStatistics(numbers.get(i + 5), numbers.get(i + 6), numbers.get(i + 7)),
              numbers.subList(from, end)));
      i = end;
    }
    return digests;
  }

  /** Returns the column of digests; null if there are none. */
  private @Nullable Array column(List<SampleDigest> digests) throws SQLException {
    List<Long> numbers = new ArrayList<>();
    for (SampleDigest digest : digests) {
      Collections.addAll(numbers, digest.answered(), digest.dropped(), digest.refused());
      Collections.addAll(numbers, (long) digest.inFlight(), digest.full() ? 1L : 0L);
      RequestStatistics statistics = digest.statistics();
      Collections.addAll(
          numbers, statistics.slopeNanos(), statistics.errorNanos(), statistics.dispersion());
      numbers.add((long) digest.latencies().size());
      numbers.addAll(digest.latencies());
    }
    return numbers.isEmpty() ? null : session.numbers(numbers);
  }
}
