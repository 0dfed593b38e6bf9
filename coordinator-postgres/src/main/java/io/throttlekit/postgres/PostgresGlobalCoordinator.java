package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.store.Grant;
import io.throttlekit.store.StoreListener;
import io.throttlekit.tier.Timer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Budgets in PostgreSQL, by the server's clock.
 *
 * <p>A lease or return is one transaction of two round trips. It locks the row of the party whose
 * budget it is, then reads the clock, which for a party only moves forward. Commits are durable,
 * whatever the server's default is. A transaction that others were in the way of is tried again,
 * and one whose connection broke before its commit. One whose commit was not answered fails, and
 * what it asked may be counted; a lease that has an id, or a return, counts once however often it
 * is sent. While PostgreSQL does not answer, calls fail at once, but for a few that probe. A
 * coordinator comes back by itself. It may be made before there is a server, and makes its tables.
 *
 * <p>Thread-safe. Nothing blocks; stages complete on virtual threads.
 */
public final class PostgresGlobalCoordinator implements GlobalCoordinator {
  private static final List<Garbage.Kind> OVER =
      List.of(
          new Garbage.Kind(
              "windows",
              "budget, window_end_millis",
              "window_end_millis < ?",
              Garbage.SLACK_MILLIS),
          new Garbage.Kind("agreements", "party, region", "until_millis < ?", Garbage.SLACK_MILLIS),
          new Garbage.Kind("parties", "name", "clock_millis < ?", TimeUnit.DAYS.toMillis(1)));

  private final Database database;
  private final Epochs epochs;

  private PostgresGlobalCoordinator(PostgresSettings settings, Database.Surroundings around) {
    this.epochs = new Epochs(settings.schema(), "budget_epoch", around.listener());
    this.database = Database.open(settings, Commits.DURABLE, epochs, OVER, around);
  }

  /**
   * A coordinator without connections yet.
   *
   * @param time for deadlines; windows follow the server's clock
   * @param timer for deadlines, and for deleting windows that are over
   * @throws IllegalArgumentException when the URL is none of PostgreSQL
   */
  public static PostgresGlobalCoordinator connect(
      PostgresSettings settings, TimeSource time, Timer timer, StoreListener listener) {
    return open(settings, new Database.Surroundings(time, timer, listener, null));
  }

  /** A coordinator that may have a test's clock. */
  static PostgresGlobalCoordinator open(PostgresSettings settings, Database.Surroundings around) {
    return new PostgresGlobalCoordinator(settings, around);
  }

  /** Whether PostgreSQL answered lately, or was not asked. */
  public boolean isUp() {
    return database.isUp();
  }

  @Override
  public CompletionStage<Grant> lease(BudgetLease lease) {
    return database.call(
        Deadline.ofCall(lease.id()), session -> new LeaseTransaction(session, epochs, lease).run());
  }

  @Override
  public CompletionStage<Boolean> reconcile(BudgetReturn units) {
    return database.call(
        Deadline.NONE, session -> new ReturnTransaction(session, epochs, units).run());
  }

  @Override
  public CompletionStage<Long> health() {
    return database.health();
  }

  @Override
  public void close() {
    database.close();
  }

  /**
   * Completes after {@link #close} when what was asked before it has been answered, or has taken as
   * long as it may, and all connections are closed.
   */
  public CompletionStage<?> ended() {
    return database.ended();
  }
}
