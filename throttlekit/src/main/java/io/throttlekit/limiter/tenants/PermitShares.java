package io.throttlekit.limiter.tenants;

import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.Products;
import io.throttlekit.fairness.TenantWeight;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * Divides the permits of a concurrency limit among tenants by weight, and lends those that are
 * reserved for none.
 *
 * <p>A tenant is active while a request of it is in flight or waits, and for a while after its last
 * request has come or ended. It holds no lock and has no clock: guarded by the limiter's lock. A
 * decision takes O(weights); after a change of the limit or of the active tenants, also as many
 * steps as parts have changed by, at most the most requests that one tenant has in flight.
 *
 * @param <R> a waiting request
 */
public final class PermitShares<R> {
  /*
   * With the limit L, W the sum of the weights of active tenants, F the requests in flight:
   *
   *   part(i)    = ⌊w(i) · L / W⌋, at least 1 if there are at most L tenants
   *   reserve    = Σ max(0, part(j) − in flight(j))     over the active tenants j
   *
   *   1. F >= L                                         none is admitted
   *   2. in flight(i) < part(i)                         admitted
   *   3. reserve < L − F                                admitted: the permit is borrowed
   *   4.                                                held back
   *
   * By rule 1, F <= L as long as L does not fall. By rule 3, while L and the active tenants stay as
   * they are, F + reserve <= L: rule 2 adds to F what it takes from the reserve, the end of a request
   * adds to the reserve at most what it takes from F, and the parts add up to at most L. So a request
   * within its tenant's part is admitted. If L falls or a tenant joins, F + reserve can exceed L. Then
   * none borrows, and each permit that ends above its tenant's part goes to one below its own.
   *
   * Two classes, as in FairShares. Let Wu be the weights of unlisted tenants and s their part of L. If
   * there are listed tenants, and Wu / W > s or the parts of unlisted tenants exceed ⌊s · L⌋, listed
   * tenants divide ⌊(1 − s) · L⌋ and unlisted ones ⌊s · L⌋. In rule 2, unlisted tenants count the
   * reserve of listed ones as used: else invented tenants, each with a part of its own, could use it
   * up one after the other.
   */

  private final Map<String, Tenant<R>> tenants = new HashMap<>();
  private final PermitGroups<R> all = new PermitGroups<>();
  private final PermitGroups<R> listed = new PermitGroups<>();
  private final PermitGroups<R> unlisted = new PermitGroups<>();

  /** Those with requests in flight or waiting. */
  private final LinkedHashSet<Tenant<R>> busy = new LinkedHashSet<>();

  /** The idle ones, in the order of their last requests. */
  private final LinkedHashSet<Tenant<R>> idleListed = new LinkedHashSet<>();

  private final LinkedHashSet<Tenant<R>> idleUnlisted = new LinkedHashSet<>();

  private TenantTerms terms;

  /** The limit by which the parts were computed, and whether they have to be computed anew. */
  private int limit;

  private boolean outdated = true;

  private long positions;

  /** Creates shares without tenants. */
  public PermitShares(TenantTerms terms) {
    this.terms = terms;
  }

  /** Applies other terms. */
  public void change(TenantTerms newest) {
    terms = newest;
    outdated = true;
    trim();
  }

  /** Notes a request, by which its tenant is active. */
  public Tenant<R> arrived(PermitTenant of, long nowNanos) {
    expire(nowNanos);
    trim(); // first: the tenant that is returned is not forgotten
    Tenant<R> tenant = tenants.get(of.name());
    if (tenant == null) {
      tenant = new Tenant<>(of.name(), group(of.weight()));
      tenants.put(of.name(), tenant);
      enter(tenant);
    } else if (!tenant.group.weight.equals(of.weight())) {
      idle(tenant).remove(tenant);
      leave(tenant);
      tenant.group = group(of.weight());
      enter(tenant);
    }
    noteIdle(tenant, nowNanos);
    return tenant;
  }

  /** Returns whether a tenant may have one more permit. */
  public boolean admits(Tenant<R> tenant, int limit, int inFlight) {
    divide(limit);
    return free(tenant, limit, inFlight) > 0;
  }

  /** Counts a permit of a tenant. */
  public void took(Tenant<R> tenant) {
    noteBusy(tenant);
    tenant.group.remove(tenant);
    tenant.inFlight++;
    tenant.group.add(tenant);
  }

  /** Counts the end of a permit. */
  public void released(Tenant<R> tenant, long nowNanos) {
    tenant.group.remove(tenant);
    tenant.inFlight--;
    tenant.group.add(tenant);
    noteIdle(tenant, nowNanos);
    trim();
  }

  /** Adds a waiting request at the end of the queue. */
  public void add(Tenant<R> tenant, R request) {
    noteBusy(tenant);
    tenant.group.remove(tenant);
    long position = positions++;
    if (tenant.waiting.isEmpty()) {
      tenant.first = position;
    }
    tenant.waiting.put(request, position);
    tenant.group.add(tenant);
  }

  /** Removes a request from the queue. */
  public void remove(Tenant<R> tenant, R request, long nowNanos) {
    tenant.group.remove(tenant);
    tenant.waiting.remove(request);
    Map.Entry<R, Long> first = tenant.waiting.firstEntry();
    tenant.first = first == null ? 0 : first.getValue();
    tenant.group.add(tenant);
    noteIdle(tenant, nowNanos);
    trim();
  }

  /**
   * Returns the waiting request that may have a permit: of the tenants below their parts the one
   * that has waited longest; of all if there is none and a permit is reserved for none.
   *
   * @param first the one that has waited longest; null if none waits
   */
  public @Nullable R next(@Nullable R first, int limit, int inFlight) {
    divide(limit);
    long free = (long) limit - inFlight;
    if (first == null || free <= 0) {
      return null;
    }
    Tenant<R> below = listed.firstBelow();
    if (free > listed.reserve()) {
      Tenant<R> other = unlisted.firstBelow();
      below = below == null || (other != null && other.first < below.first) ? other : below;
    }
    if (below != null) {
      return below.waiting.firstEntry().getKey();
    }
    return free > all.reserve() ? first : null;
  }

  /** Forgets the tenants that are not active any more. */
  public void expire(long nowNanos) {
    expire(idleListed, nowNanos);
    expire(idleUnlisted, nowNanos);
  }

  /**
   * Returns how long the tenants stay as they are without a request; Long.MAX_VALUE if for ever.
   */
  public long untilExpiry(long nowNanos) {
    return Math.min(untilExpiry(idleListed, nowNanos), untilExpiry(idleUnlisted, nowNanos));
  }

  /**
   * Returns the state that a tenant would have if it sent a request now. Makes no tenant active.
   */
  public TenantFigures peek(PermitTenant of, int limit, int inFlight, long nowNanos) {
    expire(nowNanos);
    Tenant<R> known = tenants.get(of.name());
    if (known != null && known.group.weight.equals(of.weight())) {
      divide(limit);
      return figures(known, known.waiting.size(), limit, inFlight);
    }
    if (known != null) {
      leave(known);
    }
    Tenant<R> probe = new Tenant<>(of.name(), group(of.weight()));
    probe.inFlight = known == null ? 0 : known.inFlight;
    enter(probe);
    divide(limit);
    TenantFigures figures =
        figures(probe, known == null ? 0 : known.waiting.size(), limit, inFlight);
    leave(probe);
    if (known != null) {
      enter(known);
    }
    return figures;
  }

  /** Returns counts and sums. */
  public ShareFigures figures(int limit, int inFlight, long nowNanos) {
    expire(nowNanos);
    divide(limit);
    long reserve = all.reserve();
    return new ShareFigures(tenants.size(), reserve, inFlight - (all.parts() - reserve));
  }

  /**
   * Returns the tenants with the most requests in flight, then with the most that wait, in
   * descending order. Visits all tenants that have any.
   */
  public List<TenantState> busiest(int most, int limit, int inFlight, long nowNanos) {
    expire(nowNanos);
    divide(limit);
    return busy.stream()
        .sorted(
            Comparator.<Tenant<R>>comparingInt(tenant -> -tenant.inFlight)
                .thenComparingInt(tenant -> -tenant.waiting.size())
                .thenComparing(tenant -> tenant.name))
        .limit(most)
        .map(
            each -> new TenantState(each.name, figures(each, each.waiting.size(), limit, inFlight)))
        .toList();
  }

  private TenantFigures figures(Tenant<R> tenant, int waiting, int limit, int inFlight) {
    int part = tenant.group.part();
    long free = Math.max(0, free(tenant, limit, inFlight));
    long most = tenant.inFlight < part ? part - tenant.inFlight : free;
    return new TenantFigures(part, tenant.inFlight, waiting, (int) Math.min(free, most));
  }

  /** Returns the permits that are left for a tenant. */
  private long free(Tenant<R> tenant, int limit, int inFlight) {
    long free = (long) limit - inFlight;
    if (tenant.inFlight >= tenant.group.part()) {
      return free - all.reserve();
    }
    return tenant.group.weight.listed() ? free : free - listed.reserve();
  }

  private void divide(int now) {
    if (now == limit && !outdated) {
      return;
    }
    limit = now;
    outdated = false;
    long most = (long) now * terms.unlistedMillionths() / FairTerms.ALL;
    boolean bounded = !listed.isEmpty() && isUnlistedAbove(terms.unlistedMillionths());
    if (!bounded) {
      all.divide(now);
      bounded = !listed.isEmpty() && unlisted.parts() > most; // by parts of at least 1
    }
    if (bounded) {
      listed.divide((long) now * (FairTerms.ALL - terms.unlistedMillionths()) / FairTerms.ALL);
      unlisted.divide(most);
    }
  }

  /** Returns whether unlisted tenants have more than so many millionths of all weights. */
  private boolean isUnlistedAbove(int millionths) {
    long some = unlisted.weights();
    long sum = some + listed.weights();
    return Products.compare(some, FairTerms.ALL, sum, millionths) > 0;
  }

  /** Returns the group of a weight; it counts once it has a tenant. */
  private PermitGroup<R> group(TenantWeight weight) {
    PermitGroup<R> group = all.find(weight);
    return group == null ? new PermitGroup<>(weight) : group;
  }

  private void enter(Tenant<R> tenant) {
    PermitGroup<R> group = tenant.group;
    if (group.tenants() == 0) {
      all.add(group);
      (group.weight.listed() ? listed : unlisted).add(group);
    }
    group.add(tenant);
    outdated = true;
  }

  private void leave(Tenant<R> tenant) {
    PermitGroup<R> group = tenant.group;
    group.remove(tenant);
    if (group.tenants() == 0) {
      all.remove(group);
      (group.weight.listed() ? listed : unlisted).remove(group);
    }
    outdated = true;
  }

  private SequencedSet<Tenant<R>> idle(Tenant<R> tenant) {
    return tenant.group.weight.listed() ? idleListed : idleUnlisted;
  }

  private void noteBusy(Tenant<R> tenant) {
    if (tenant.isIdle()) {
      idle(tenant).remove(tenant);
      busy.add(tenant);
    }
  }

  private void noteIdle(Tenant<R> tenant, long nowNanos) {
    if (tenant.isIdle()) {
      busy.remove(tenant);
      tenant.activeNanos = nowNanos;
      idle(tenant).addLast(tenant); // moves it if it is in the set
    }
  }

  private void expire(SequencedSet<Tenant<R>> idle, long nowNanos) {
    while (untilExpiry(idle, nowNanos) <= 0) {
      forget(idle.removeFirst());
    }
  }

  private long untilExpiry(SequencedSet<Tenant<R>> idle, long nowNanos) {
    // The difference of monotonic times is safe against overflow.
    return idle.isEmpty()
        ? Long.MAX_VALUE
        : terms.activeNanos() - (nowNanos - idle.getFirst().activeNanos);
  }

  /** Forgets idle tenants until few enough are left, those with a listed weight last. */
  private void trim() {
    while (idleListed.size() + idleUnlisted.size() > terms.maxIdle()) {
      forget(idleUnlisted.isEmpty() ? idleListed.removeFirst() : idleUnlisted.removeFirst());
    }
  }

  private void forget(Tenant<R> tenant) {
    tenants.remove(tenant.name);
    leave(tenant);
  }
}
