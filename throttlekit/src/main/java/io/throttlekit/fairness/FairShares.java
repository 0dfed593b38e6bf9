package io.throttlekit.fairness;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;

/**
 * Divides the units of one window among tenants by weight, and lends what no active tenant has a
 * claim to.
 *
 * <p>A tenant is active if it was seen in this window or in the one before. The pool begins windows
 * ({@link #roll}) and grants the limit in each of them ({@link #grant}). Not thread-safe: guarded
 * by the pool's lock.
 */
public final class FairShares {
  /*
   * With units L granted, W the sum of the weights of active tenants, U charged in this window:
   *
   *   guarantee(i) = ⌊w(i) · L / W⌋                          multiplied before it is divided
   *   reserve(i)   = Σ over the others j of max(0, guarantee(j) − used(j))
   *
   *   1. cost > L − U                                        refused
   *   2. used + cost <= guarantee                            admitted
   *   3. used + cost − guarantee <= min(cost, L − U − reserve)   admitted: the rest is borrowed
   *   4.                                                     refused
   *
   * By rule 1, never more than L is admitted. By rule 3, tenants that are active from the beginning
   * of a window get min(demand, guarantee) in it. For costs above 1, what is left can be less than
   * all reserves, by less than the largest cost: rule 3 compares only the part of a cost that is
   * beyond the guarantee. Also in rule 3, min(cost, …) lets a tenant exceed its guarantee once per
   * window, by at most one cost, as in Deficit Round Robin: borrowers stay within one cost of each
   * other in proportion to their weights.
   *
   * Two classes. Let Wu be the weights of unlisted tenants and s their part of L. If Wu / W > s and
   * there are listed tenants, those share ⌊(1 − s) · L⌋ and the unlisted ones ⌊s · L⌋. In rule 1,
   * unlisted tenants count the reserve of listed ones as used: else invented tenants, each with a
   * guarantee of its own, could use it up one after the other.
   *
   * All of it is exact, in integers. Sums over tenants are kept up to date, see TenantClass.
   */

  private final Tenants tenants;
  private FairTerms terms;

  /** L, in units. */
  private long units;

  /** U, in parts. Those of tenants that were evicted stay in it, so that L bounds all of them. */
  private long used;

  private long borrowed;
  private long refused;

  /** Creates shares without units, before the first window. */
  public FairShares(FairTerms terms) {
    this(terms, new Tenants(terms), 0);
  }

  /** Creates shares of tenants in a window that may have begun. */
  FairShares(FairTerms terms, Tenants tenants, long used) {
    this.terms = terms;
    this.tenants = tenants;
    this.used = used;
  }

  /**
   * Changes limit, number of tenants or the unlisted part; charges are kept. {@link #trim} evicts
   * tenants beyond a lower number.
   *
   * @throws IllegalArgumentException when window or resolution differ
   */
  public void change(FairTerms newest) {
    if (newest.windowMillis() != terms.windowMillis()
        || newest.partsPerUnit() != terms.partsPerUnit()) {
      throw new IllegalArgumentException("window and resolution of a pool cannot change");
    }
    terms = newest;
    units = Math.min(units, newest.limit());
    divide();
  }

  /** Evicts a few tenants, if more are remembered than may be. */
  void trim() {
    if (tenants.size() > terms.maxTenants()) {
      tenants.trim(terms.maxTenants());
      divide();
    }
  }

  /** Begins a window, without units. Earlier ones are ignored, because clocks may step back. */
  public void roll(long windowEndMillis) {
    if (windowEndMillis > tenants.windowEndMillis()) {
      tenants.roll(windowEndMillis);
      units = 0;
      used = 0;
      divide();
    }
  }

  /**
   * Grants units for the whole window, at most the limit. Fewer than before are ignored, so that no
   * guarantee falls by it.
   */
  public void grant(long granted) {
    long within = Math.min(granted, terms.limit());
    if (within > units) {
      units = within;
      divide();
    }
  }

  /**
   * Charges a tenant, which is active from now on.
   *
   * @param key of the tenant; all tenants of a pool have keys of one scope
   * @param cost parts, from 0; 0 consumes nothing and asks for the smallest cost, except under
   *     {@link Overrun#COUNT}
   * @param untilEndMillis ms to the end of the window
   */
  public FairDecision charge(
      CounterKey key, TenantWeight weight, long cost, Overrun overrun, long untilEndMillis) {
    Tenant tenant = enter(key, weight);
    long needed = needed(cost, overrun);
    long before = tenant.used;
    long guarantee = guarantee(tenant);
    long limit;
    boolean admitted;
    if (needed > free(tenant)) {
      limit = Math.max(guarantee, before);
      admitted = false;
    } else if (needed <= guarantee - before) {
      limit = guarantee;
      admitted = true;
    } else {
      long wanted = before + needed - guarantee;
      limit = guarantee + Math.min(wanted, Math.min(needed, unreserved(tenant, guarantee)));
      admitted = before + needed <= limit;
    }
    Decision decision =
        admitted
            ? Decision.admit(limit, limit - before - cost, untilEndMillis)
            : refusal(limit, before, cost, overrun, untilEndMillis);
    long lent = admitted ? Math.max(0, before + cost - Math.max(guarantee, before)) : 0;
    if (admitted || overrun != Overrun.REFUSE) {
      use(tenant, Math.min(cost, Cost.MAX - used));
    }
    borrowed += lent;
    refused += admitted ? 0 : cost;
    return new FairDecision(decision, guarantee, lent, tenants.windowEndMillis());
  }

  /**
   * Refunds parts to a tenant.
   *
   * @param parts from 0
   * @param takenWindowEndMillis the window that they were charged in; those of an ended window, and
   *     those of a tenant that was evicted, are worth nothing
   */
  public void refund(CounterKey key, long parts, long takenWindowEndMillis) {
    Tenant tenant = tenants.find(key);
    if (tenant != null
        && takenWindowEndMillis == tenants.windowEndMillis()
        && tenants.isSeen(tenant)) {
      use(tenant, -Math.min(parts, tenant.used));
    }
  }

  /**
   * Undoes a charge or refund of this window. The tenant stays active.
   *
   * @param parts that it added to {@link #used}; below 0 for a refund
   */
  void undo(CounterKey key, long parts, long lent, long refusedCost) {
    Tenant tenant = tenants.find(key);
    long own = 0;
    if (tenant != null && tenants.isSeen(tenant)) {
      own = Math.min(parts, tenant.used);
      use(tenant, -own);
    }
    // The rest is of a tenant that was evicted since, by another charge of the same request.
    used -= Math.min(parts - own, used);
    borrowed -= lent;
    refused -= refusedCost;
  }

  /** Forgets a tenant; what it has used returns to the others. */
  public void reset(CounterKey key) {
    Tenant tenant = tenants.find(key);
    if (tenant != null) {
      used -= tenants.isSeen(tenant) ? tenant.used : 0;
      tenants.remove(tenant);
      divide();
    }
  }

  /** Forgets all tenants, and what was used in this window. */
  public void reset() {
    tenants.clear();
    used = 0;
    divide();
  }

  /** Returns shares of the next window, without units: tenants seen in this one are active. */
  FairShares next() {
    FairShares next = new FairShares(terms);
    next.roll(windowEndMillis());
    tenants.enterSeen(next.tenants, terms.maxTenants());
    next.roll(windowEndMillis() + terms.windowMillis());
    return next;
  }

  /** Makes a tenant active, unless it is, as one that was seen in the window before. */
  void expect(CounterKey key, TenantWeight weight) {
    tenants.expect(key, weight, terms.maxTenants());
    divide();
  }

  /** Returns the state that a tenant would have if it sent a request now. Changes nothing. */
  public TenantState peek(CounterKey key, TenantWeight weight) {
    Tenant known = tenants.find(key);
    boolean active = known != null && tenants.isActive(known);
    boolean seen = known != null && tenants.isSeen(known);
    if (known != null && active) {
      known.group.among.remove(known, seen);
    }
    Tenant probe = tenants.probe(key, weight, known != null && seen ? known.used : 0);
    probe.group.among.add(probe, true);
    divide();
    TenantState state =
        new TenantState(guarantee(probe), probe.used, Math.max(0, available(probe)), active);
    probe.group.among.remove(probe, true);
    if (known != null && active) {
      known.group.among.add(known, seen);
    }
    divide();
    return state;
  }

  /** Returns the parts charged in this window. */
  long used() {
    return used;
  }

  /** Returns the window, named by its end. */
  public long windowEndMillis() {
    return tenants.windowEndMillis();
  }

  /** Returns the number of remembered tenants, active or not. */
  public int size() {
    return tenants.size();
  }

  /** Returns whether a tenant is remembered, active or not. */
  boolean remembers(CounterKey key) {
    return tenants.find(key) != null;
  }

  /** Returns counts and sums. */
  public FairFigures figures() {
    return new FairFigures(
        tenants.listed.count(),
        tenants.unlisted.count(),
        units * terms.partsPerUnit(),
        used,
        reserve(),
        borrowed,
        refused,
        tenants.evicted());
  }

  /** Returns how many weights and nodes of trees a decision visits at most. */
  int steps() {
    return tenants.listed.steps() + tenants.unlisted.steps();
  }

  private Tenant enter(CounterKey key, TenantWeight weight) {
    Tenant tenant = tenants.enter(key, weight, terms.maxTenants());
    divide(); // the sum of weights may have changed
    return tenant;
  }

  private void divide() {
    tenants.divide(units, terms.unlistedMillionths());
  }

  private long guarantee(Tenant tenant) {
    return tenant.group.among.guarantee(tenant.group.weight);
  }

  /** Returns the parts that are left for a tenant if it has a guarantee. */
  private long free(Tenant tenant) {
    long left = units * terms.partsPerUnit() - used;
    return tenant.group.weight.listed() ? left : left - tenants.listed.reserve();
  }

  /** Returns the parts that are left and in no reserve of others. */
  private long unreserved(Tenant tenant, long guarantee) {
    long left = units * terms.partsPerUnit() - used;
    return Math.max(0, left - reserveOfOthers(tenant, guarantee));
  }

  private long reserveOfOthers(Tenant tenant, long guarantee) {
    return reserve() - Math.max(0, guarantee - tenant.used);
  }

  private long reserve() {
    return tenants.listed.reserve() + tenants.unlisted.reserve();
  }

  /** Returns the largest cost that would be admitted; below 0 if even 0 would not. */
  private long available(Tenant tenant) {
    long guarantee = guarantee(tenant);
    return tenant.used > guarantee
        ? -1
        : Math.min(free(tenant), guarantee - tenant.used + unreserved(tenant, guarantee));
  }

  private void use(Tenant tenant, long parts) {
    if (parts != 0) {
      tenant.group.among.use(tenant, tenant.used + parts);
      used += parts;
    }
  }

  private Decision refusal(
      long limit, long before, long cost, Overrun overrun, long untilEndMillis) {
    long debt = overrun == Overrun.REFUSE ? 0 : cost;
    long retryAfter = cost > terms.limitParts() ? Decision.NEVER : untilEndMillis;
    return Decision.refuse(limit, Math.max(0, limit - before) - debt, untilEndMillis, retryAfter);
  }

  private static long needed(long cost, Overrun overrun) {
    return cost == 0 && overrun != Overrun.COUNT ? 1 : cost;
  }
}
