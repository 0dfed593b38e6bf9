package io.throttlekit.redis;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.Terms;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Budgets in Redis: a single server, one behind Sentinels, or a Cluster, by Redis's own clock.
 *
 * <p>A lease without an id fails at the lease deadline of the settings, and may have been counted.
 * A lease with an id, and a return, fail only when their connection is lost: an answer counts
 * however late it arrives. While Redis does not answer, calls fail at once, except for a few
 * probes. The coordinator recovers by itself.
 *
 * <p>Leases are kept for ten seconds after their window: a clock that steps back by less, after a
 * failover to a replica with a slower clock, does not grant units twice. Regions that share budgets
 * have the same key prefix. After a loss of data, units of the affected windows are not taken back,
 * because they may have been leased before it.
 *
 * <p>Of a budget that tenants share, no call visits all tenants, also not the first one of a
 * window. A tenant that the bound on tenants evicts from the current window is evicted from the
 * next one, too.
 *
 * <p>Thread-safe and non-blocking; stages complete on event loops.
 */
public final class RedisGlobalCoordinator extends RedisFederation implements GlobalCoordinator {
  private static final Script LEASE = Script.ofFederation("budget", "budget_terms", "lease_budget");
  private static final Script RETURN =
      Script.ofFederation("budget", "return_budget", "return_units");
  private static final Script LEASE_SHARED = Script.ofFairBudget("budget_terms", "lease_shared");
  private static final Script RETURN_SHARED = Script.ofFairBudget("return_budget", "return_shared");
  private static final int MISMATCH_PARTS = 3; // region, terms, requested terms
  private static final int TENANT_PARTS = 5; // a grant, and the tenant's limit
  private static final int POOLS = 3; // of the last, the current and the next window

  /** Creates a coordinator, possibly with a test's clock. */
  RedisGlobalCoordinator(Setup setup) {
    super(List.of(LEASE, RETURN, LEASE_SHARED, RETURN_SHARED), setup);
  }

  /**
   * Creates a coordinator, with a connection for each event loop.
   *
   * @param group loops of a server, of the transport that Lettuce uses here (epoll if its library
   *     is on the class path, else NIO); not shut down by the coordinator. Null for a loop of its
   *     own
   * @throws IllegalArgumentException for an invalid Redis URL or an invalid TLS file
   */
  public static RedisGlobalCoordinator connect(
      RedisSettings settings,
      TimeSource time,
      StoreListener listener,
      @Nullable EventLoopGroup group) {
    return new RedisGlobalCoordinator(new Setup(settings, time, listener, group, null));
  }

  @Override
  public CompletionStage<LeaseGrant> lease(BudgetLease lease) {
    Budget budget = lease.budget();
    FixedWindow window = budget.window();
    Place place = keys.of(budget.party());
    FairTenant tenant = lease.tenant();
    List<byte[]> keys = new ArrayList<>(rows(place, budget));
    keys.addAll(terms(place, budget));
    keys.addAll(tenant == null ? List.of() : pools(place, budget));
    Script script = tenant == null ? LEASE : LEASE_SHARED;
    boolean repeatable = lease.id() != null;
    ScriptCall<LeaseGrant> call =
        new ScriptCall<>(
                script, place, keys, leaseDeadline(), repeatable, reply -> grant(reply, lease))
            .with(window.windowMillis())
            .with(lease.windowEndMillis())
            .with(window.limit())
            .with(lease.units())
            .with(lease.onDataLoss() == DataLoss.DENY ? 1 : 0)
            .with(lease.region())
            .with(stored(budget.terms()))
            .with(lease.id());
    return run(with(call, tenant));
  }

  @Override
  public CompletionStage<Boolean> reconcile(BudgetReturn units) {
    Budget budget = units.budget();
    Place place = keys.of(budget.party());
    FairTenant tenant = units.tenant();
    List<byte[]> keys = new ArrayList<>(rows(place, budget));
    if (tenant != null) {
      keys.addAll(terms(place, budget)); // unused, so that pools have the same numbers everywhere
      keys.addAll(pools(place, budget));
    }
    Script script = tenant == null ? RETURN : RETURN_SHARED;
    ScriptCall<Boolean> call =
        new ScriptCall<>(script, place, keys, leaseDeadline(), true, reply -> reply.number(0) == 1)
            .with(budget.window().windowMillis())
            .with(units.windowEndMillis())
            .with(units.units())
            // The length keeps region "a" with id "b1" apart from region "ab" with id "1".
            .with(units.region().length() + ":" + units.region() + units.id());
    return run(with(call, tenant));
  }

  /** Adds a tenant with its terms; nothing if there is none. */
  private static <T> ScriptCall<T> with(ScriptCall<T> call, @Nullable FairTenant tenant) {
    if (tenant == null) {
      return call;
    }
    FairTerms terms = tenant.terms();
    return call.with(Requests.signed(tenant.weight()))
        .with(terms.limit())
        .with(terms.partsPerUnit())
        .with(terms.unlistedMillionths())
        .with(terms.maxTenants())
        .with(tenant.key().toString());
  }

  /** Returns the keys of even and odd windows: only the current and the next one can be leased. */
  private static List<byte[]> rows(Place place, Budget budget) {
    CounterKey key = budget.key();
    long length = budget.window().windowMillis();
    return List.of(place.key("even" + length, key), place.key("odd" + length, key));
  }

  private static List<byte[]> terms(Place place, Budget budget) {
    return List.of(place.key("terms", budget.party()), place.key("asked", budget.party()));
  }

  /** Returns the keys of the tenants' pools: while the next window is leased, three are needed. */
  private static List<byte[]> pools(Place place, Budget budget) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < POOLS; i++) {
      String which = i + "/" + budget.window().windowMillis();
      keys.add(place.key("pool" + which, budget.key()));
      keys.add(place.key("order" + which, budget.key()));
      keys.add(place.key("amounts" + which, budget.key()));
    }
    return keys;
  }

  private static LeaseGrant grant(ScriptCall.Reply reply, BudgetLease lease) {
    if (reply.size() == MISMATCH_PARTS) {
      Terms terms = lease.budget().terms();
      throw new TermsMismatchException(
          lease.region(),
          terms,
          reply.text(0),
          read(terms.scope(), reply.text(1)),
          read(terms.scope(), reply.text(2)));
    }
    boolean current = lease.windowEndMillis() == BudgetLease.CURRENT;
    LeaseGrant grant =
        new LeaseGrant(
            reply.unlessOvertaken(0),
            current ? reply.number(1) : lease.windowEndMillis(),
            reply.number(2),
            reply.number(3));
    return reply.size() == TENANT_PARTS ? grant.withLimit(reply.number(4)) : grant;
  }

  /**
   * Returns {@code 300/10000,5000/3600000}. Stored, so it must not change with the texts for
   * people.
   */
  private static String stored(Terms terms) {
    return terms.budgets().stream()
        .map(budget -> budget.limit() + "/" + budget.windowMillis())
        .collect(Collectors.joining(","));
  }

  private static Terms read(String scope, String stored) {
    List<FixedWindow> budgets = new ArrayList<>();
    for (String budget : stored.split(",", -1)) {
      String[] parts = budget.split("/", -1);
      budgets.add(new FixedWindow(Long.parseLong(parts[0]), Long.parseLong(parts[1])));
    }
    return new Terms(scope, budgets);
  }
}
