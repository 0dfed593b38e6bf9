package io.throttlekit.postgres;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Counters in PostgreSQL: locked there, decided here with the results of {@link
 * io.throttlekit.store.InMemoryStore}, by the server's clock.
 *
 * <p>A request is one transaction of two round trips, however many descriptors it has. The clock is
 * read when all rows are locked. A transaction is retried after a conflict, and after its
 * connection was lost before the commit. A transaction whose commit was not answered fails, and may
 * be counted; a lease or a return with an id counts once however often it is repeated. While
 * PostgreSQL does not answer, calls fail at once, except for a few probes; the store recovers by
 * itself. It may be created while the server is unreachable, and creates its tables.
 *
 * <p>Thread-safe and non-blocking; stages complete on virtual threads.
 */
public final class PostgresCounterStore extends Database implements CounterStore {
  /** The most charges of a request, the same as for Redis. */
  private static final int MAX_CHARGES = 0xF000;

  private static final List<Garbage.Kind> EXPIRED =
      List.of(
          new Garbage.Kind("counters", "name", "kept_until_millis < ?", 0),
          new Garbage.Kind(CounterRows.TENANTS, "pool, name", "kept_until_millis < ?", 0));

  private final Epochs epochs;

  /** Creates a store, possibly with a test's clock. */
  PostgresCounterStore(PostgresSettings settings, Surroundings around) {
    boolean durable = settings.counters() == Durability.SYNCHRONOUS;
    Epochs epochs = new Epochs(settings.schema(), "counter_epoch", durable, around.listener());
    super(settings, durable, epochs, EXPIRED, around);
    this.epochs = epochs;
  }

  /**
   * Creates a store without connections.
   *
   * @param time for deadlines; windows follow the server's clock
   * @param timer for deadlines, and for the deletion of unused counters
   * @throws IllegalArgumentException if the URL is not one of PostgreSQL
   */
  public static PostgresCounterStore connect(
      PostgresSettings settings, TimeSource time, Scheduler timer, StoreListener listener) {
    return new PostgresCounterStore(settings, new Surroundings(time, timer, listener, null));
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    List<Charge> charges = new ArrayList<>();
    claims.forEach(claim -> charges.addAll(claim.charges()));
    if (charges.isEmpty()) {
      return CompletableFuture.completedFuture(new Outcome(true, List.of()));
    }
    if (charges.size() > MAX_CHARGES) {
      throw new IllegalArgumentException(charges.size() + " charges are more than " + MAX_CHARGES);
    }
    return call(
        Deadline.REQUEST,
        waitNanos,
        placeOf(charges),
        new CounterRows.Request<>(charges, null, rows -> rows.acquire(claims)));
  }

  /**
   * Returns where a request waits; with others of its tenants only if it locks no other counter.
   */
  private static Turns.Place placeOf(List<Charge> charges) {
    Charge first = charges.getFirst();
    boolean together = true;
    for (Charge charge : charges) {
      together &= charge.key().equals(first.key());
      first = first.tenant() == null ? charge : first;
    }
    return Turns.Place.of(first.key(), first.tenant(), together);
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    return call(
        Deadline.ofCall(request.id()),
        Long.MAX_VALUE,
        Turns.Place.of(request.key(), request.tenant(), true),
        CounterRows.Request.of(request, rows -> rows.lease(request)));
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    return this.<Boolean>call(
            Deadline.ofCall(lease.id()),
            Long.MAX_VALUE,
            Turns.Place.of(lease.key(), lease.tenant(), true),
            CounterRows.Request.of(
                lease,
                rows -> {
                  rows.returnUnits(lease, windowEndMillis, units);
                  return true;
                }))
        .thenAccept(_ -> {});
  }

  private <T> CompletionStage<T> call(
      Deadline deadline, long waitNanos, Turns.Place place, CounterRows.Request<T> request) {
    return call(
        deadline,
        waitNanos,
        place,
        request,
        (session, requests) -> CounterRows.answer(session, epochs, requests));
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    return call(
            Deadline.REQUEST,
            session -> {
              // Tenants' rows have no effect without it, and are deleted with the next charge.
              session.commit("DELETE FROM counters WHERE name = ?;", Names.of(key));
              return true;
            })
        .thenAccept(_ -> {});
  }

  @Override
  public CompletionStage<Void> resetTenant(CounterKey key, FairTenant tenant) {
    FairTerms terms = tenant.terms();
    FixedWindow window = new FixedWindow(terms.limitParts(), terms.windowMillis());
    Charge look = new Charge(key, window, 0, Overrun.COUNT, tenant);
    return this.<Boolean>call(
            Deadline.REQUEST,
            Long.MAX_VALUE,
            Turns.Place.of(key, tenant, true),
            new CounterRows.Request<>(
                List.of(look),
                null,
                rows -> {
                  rows.resetTenant(tenant);
                  return true;
                }))
        .thenAccept(_ -> {});
  }
}
