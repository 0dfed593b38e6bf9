package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.PendingHeartbeat;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Concurrency limits in PostgreSQL, by the server's clock.
 *
 * <p>A call is one transaction of two round trips (three for the node that steers). It locks the
 * row of the limit, and then reads the clock and the nodes; so the heartbeats of a limit follow
 * each other. Commits are durable, whatever the server's default is: after a crash that lost a
 * grant, its permits would be granted once more while the node still applies it. A transaction is
 * retried after its connection was lost before the commit. A call whose commit was not answered
 * fails, and may have taken effect. While PostgreSQL does not answer, calls fail at once, except
 * for a few probes; the coordinator recovers by itself. It may be created while the server is
 * unreachable, and creates its tables.
 *
 * <p>Calls take turns at the connections, so that limits whose nodes have a share keep it: see
 * {@link LimitQueue}. A call that waits for the row of its limit fails soon.
 *
 * <p>A limit is kept for an hour after its last heartbeat, so that a fleet that was away continues
 * with it.
 *
 * <p>Each heartbeat follows the terms of its own coordinator. So new terms may be rolled out node
 * by node: until the last one has them, the limit may change with each heartbeat, and the sum of
 * what is reserved is below the largest of these limits.
 *
 * <p>In a restored backup, or a promoted standby that lagged, the nodes' last shares are not known:
 * until each node has sent a heartbeat or its lease has ended, requests in flight may reach twice
 * the limit. A clock that steps ahead, as after such a failover, ends leases early by as much: the
 * nodes' margin has to be larger.
 *
 * <p>An id of a node is a text that PostgreSQL can store: without NUL and unpaired surrogates.
 *
 * <p>Thread-safe and non-blocking; stages complete on virtual threads.
 */
public final class PostgresConcurrencyCoordinator extends Database
    implements ConcurrencyCoordinator {
  private static final List<Garbage.Kind> EXPIRED =
      List.of(new Garbage.Kind("fleets", "name", "kept_until_millis < ?", Garbage.SLACK_MILLIS));

  /** The longest that an answer is of use: a node fences itself this long after its heartbeat. */
  private static final long USEFUL_MILLIS = 1_500;

  /** How long a heartbeat's share lasts, where only its sequence is known: as a new one. */
  private static final long UNKNOWN = TimeUnit.MILLISECONDS.toNanos(USEFUL_MILLIS);

  /** Waits for a lock within a deadline, so that a node can repeat a heartbeat before its fence. */
  private static final int LOCKS_IN_DEADLINE = 3;

  private final Epochs epochs;
  private final Coordination terms;
  private final LimitQueue queue;
  private final long lockMillis;

  /** Creates a coordinator, possibly with a test's clock. */
  PostgresConcurrencyCoordinator(
      PostgresSettings settings, Coordination terms, Surroundings around) {
    Epochs epochs = new Epochs(settings.schema(), "fleet_epoch", true, around.listener());
    super(settings, true, epochs, EXPIRED, around);
    this.epochs = epochs;
    this.terms = terms;
    this.lockMillis = Math.max(1, settings.leaseDeadlineMillis() / LOCKS_IN_DEADLINE);
    this.queue =
        new LimitQueue(
            settings.connections(),
            TimeUnit.MILLISECONDS.toNanos(settings.leaseDeadlineMillis()),
            around.time(),
            around.timer(),
            around.listener(),
            this::isDown);
  }

  /**
   * Creates a coordinator without connections.
   *
   * @param settings whose lease deadline counts up to 1.5 s, for which an answer is of use
   * @param terms for the heartbeats of this coordinator's nodes
   * @param time for deadlines; the nodes' leases follow the server's clock
   * @param timer for deadlines, and for the deletion of abandoned limits
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresConcurrencyCoordinator connect(
      PostgresSettings settings,
      Coordination terms,
      TimeSource time,
      Scheduler timer,
      StoreListener listener) {
    return new PostgresConcurrencyCoordinator(
        settings.withLeaseDeadline(USEFUL_MILLIS),
        terms,
        new Surroundings(time, timer, listener, null));
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(Heartbeat beat) {
    return queue.heartbeat(beat.key(), () -> beat.sequence() == 1 ? 0 : UNKNOWN, () -> send(beat));
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(PendingHeartbeat pending) {
    return queue.heartbeat(
        pending.key(),
        pending::leftNanos,
        () -> {
          Heartbeat beat = pending.make();
          return beat == null
              ? CompletableFuture.failedStage(StoreException.notSent("the node is closed"))
              : send(beat);
        });
  }

  @Override
  public CompletionStage<Void> leave(Departure departure) {
    return call(departure.key(), transaction -> transaction.leave(departure));
  }

  @Override
  public CompletionStage<Void> released(ReleasedPermits released) {
    return call(released.key(), transaction -> transaction.released(released));
  }

  @Override
  public void close() {
    queue.close(); // departures are sent before
    super.close();
  }

  private CompletionStage<ShareGrant> send(Heartbeat beat) {
    return call(Deadline.NONE, session -> transaction(session, beat.key()).heartbeat(terms, beat));
  }

  private CompletionStage<Void> call(String key, FleetCall work) {
    return queue
        .call(
            key,
            () ->
                call(
                    Deadline.NONE,
                    session -> {
                      work.make(transaction(session, key));
                      return true;
                    }))
        .thenAccept(_ -> {});
  }

  private FleetTransaction transaction(Session session, String key) {
    return new FleetTransaction(session, epochs, key, lockMillis);
  }

  private interface FleetCall {
    void make(FleetTransaction transaction) throws SQLException;
  }
}
