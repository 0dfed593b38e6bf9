package io.throttlekit.postgres;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.StoreListener;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Budgets in PostgreSQL, by the server's clock.
 *
 * <p>A lease or a return is one transaction of two round trips, or three of a budget that tenants
 * share. It locks the row of the budget's party, and then reads the clock, which only moves forward
 * for a party. Commits are durable, whatever the server's default is. A transaction is retried
 * after a conflict, and after its connection was lost before the commit. A transaction whose commit
 * was not answered fails, and may be counted; a lease with an id, or a return, counts once however
 * often it is repeated. While PostgreSQL does not answer, calls fail at once, except for a few
 * probes; the coordinator recovers by itself. It may be created while the server is unreachable,
 * and creates its tables.
 *
 * <p>Thread-safe and non-blocking; stages complete on virtual threads.
 */
public final class PostgresGlobalCoordinator extends Database implements GlobalCoordinator {
  private static final List<Garbage.Kind> EXPIRED =
      List.of(
          new Garbage.Kind(
              "windows",
              "budget, window_end_millis",
              "window_end_millis < ?",
              Garbage.SLACK_MILLIS),
          new Garbage.Kind("budget_pools", "budget, window_end_millis", "kept_until_millis < ?", 0),
          new Garbage.Kind(BudgetPools.TENANTS, "pool, name", "kept_until_millis < ?", 0),
          new Garbage.Kind("agreements", "party, region", "until_millis < ?", Garbage.SLACK_MILLIS),
          // A party's clock must outlive any step back of the server's.
          new Garbage.Kind("parties", "name", "clock_millis < ?", TimeUnit.DAYS.toMillis(1)));

  private final Epochs epochs;

  /** Creates a coordinator, possibly with a test's clock. */
  PostgresGlobalCoordinator(PostgresSettings settings, Surroundings around) {
    Epochs epochs = new Epochs(settings.schema(), "budget_epoch", true, around.listener());
    super(settings, true, epochs, EXPIRED, around);
    this.epochs = epochs;
  }

  /**
   * Creates a coordinator without connections.
   *
   * @param time for deadlines; windows follow the server's clock
   * @param timer for deadlines, and for the deletion of ended windows
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresGlobalCoordinator connect(
      PostgresSettings settings, TimeSource time, Scheduler timer, StoreListener listener) {
    return new PostgresGlobalCoordinator(settings, new Surroundings(time, timer, listener, null));
  }

  @Override
  public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
    return call(
        Deadline.ofCall(lease.id()),
        Turns.Place.of(lease.budget().key(), lease.tenant(), false),
        session -> new BudgetTransaction(session, epochs, lease.budget()).lease(lease));
  }

  @Override
  public CompletionStage<Boolean> reconcile(BudgetReturn units) {
    return call(
        Deadline.NONE,
        Turns.Place.of(units.budget().key(), units.tenant(), false),
        session -> new BudgetTransaction(session, epochs, units.budget()).returnUnits(units));
  }
}
