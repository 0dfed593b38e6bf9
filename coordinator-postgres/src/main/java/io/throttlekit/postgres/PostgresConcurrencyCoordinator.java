package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.Timer;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.ReleasedPermits;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.store.StoreListener;
import java.util.List;
import java.util.concurrent.CompletionStage;

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

  private final Epochs epochs;
  private final Coordination terms;

  /** Creates a coordinator, possibly with a test's clock. */
  PostgresConcurrencyCoordinator(
      PostgresSettings settings, Coordination terms, Surroundings around) {
    Epochs epochs = new Epochs(settings.schema(), "fleet_epoch", true, around.listener());
    super(settings, true, epochs, EXPIRED, around);
    this.epochs = epochs;
    this.terms = terms;
  }

  /**
   * Creates a coordinator without connections.
   *
   * @param terms for the heartbeats of this coordinator's nodes
   * @param time for deadlines; the nodes' leases follow the server's clock
   * @param timer for deadlines, and for the deletion of abandoned limits
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresConcurrencyCoordinator connect(
      PostgresSettings settings,
      Coordination terms,
      TimeSource time,
      Timer timer,
      StoreListener listener) {
    return new PostgresConcurrencyCoordinator(
        settings, terms, new Surroundings(time, timer, listener, null));
  }

  @Override
  public CompletionStage<ShareGrant> heartbeat(Heartbeat beat) {
    return call(
        Deadline.NONE,
        session -> new FleetTransaction(session, epochs, beat.key()).heartbeat(terms, beat));
  }

  @Override
  public CompletionStage<Void> leave(Departure departure) {
    return call(
            Deadline.NONE,
            session -> {
              new FleetTransaction(session, epochs, departure.key()).leave(departure);
              return true;
            })
        .thenAccept(_ -> {});
  }

  @Override
  public CompletionStage<Void> released(ReleasedPermits released) {
    return call(
            Deadline.NONE,
            session -> {
              new FleetTransaction(session, epochs, released.key()).released(released);
              return true;
            })
        .thenAccept(_ -> {});
  }
}
