package io.throttlekit.fairness;

import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;

/**
 * The state of a counter that tenants share: {@link FairShares} with the whole limit granted in
 * each window. A charge can be undone before the next window. Not thread-safe: guarded by the
 * counter's lock.
 */
public final class FairPool {
  private static final int MIN_ROOM = 8;

  /** The first one may evict another tenant, which changes what the tenant may take. */
  private static final int LEASE_ATTEMPTS = 2;

  private final FairShares shares;
  private FairTerms terms;
  private volatile int room = MIN_ROOM;

  /** Creates a pool without tenants. */
  public FairPool(FairTerms terms) {
    this(terms, new FairShares(terms));
  }

  /** Creates a pool of shares that have these terms. */
  FairPool(FairTerms terms, FairShares shares) {
    this.terms = terms;
    this.shares = shares;
  }

  /**
   * Returns a pool of the next window, for a caller that needs both: tenants that were seen in this
   * one are active there.
   */
  public FairPool next() {
    FairShares next = shares.next();
    next.grant(terms.limit());
    return new FairPool(terms, next);
  }

  /** Makes a tenant active, unless it is, as one that was seen in the window before. */
  public void expect(FairTenant tenant) {
    shares.expect(tenant.key(), tenant.weight());
  }

  /** Begins the window of this time, if it is later than the current one. */
  public void roll(long nowMillis) {
    shares.trim();
    if (nowMillis >= shares.windowEndMillis()) {
      long window = terms.windowMillis();
      shares.roll(nowMillis - Math.floorMod(nowMillis, window) + window);
      shares.grant(terms.limit());
    }
  }

  /**
   * Charges a tenant.
   *
   * @param cost parts from 1 to {@link io.throttlekit.Cost#MAX}
   */
  public FairDecision charge(FairTenant tenant, long cost, Overrun overrun, long nowMillis) {
    follow(tenant.terms());
    return charge(tenant.key(), tenant.weight(), cost, overrun, nowMillis);
  }

  FairDecision charge(
      CounterKey tenant, TenantWeight weight, long cost, Overrun overrun, long nowMillis) {
    roll(nowMillis);
    long untilEnd = shares.windowEndMillis() - nowMillis;
    FairDecision decision = shares.charge(tenant, weight, cost, overrun, untilEnd);
    if (shares.size() > room) {
      room = 2 * shares.size();
    }
    return decision;
  }

  /**
   * Charges a tenant what it may take without units that others have reserved.
   *
   * @param most the most parts, from 1
   * @return the parts charged, from 0
   */
  public long lease(FairTenant tenant, long most, long nowMillis) {
    for (int attempt = 0; attempt < LEASE_ATTEMPTS; attempt++) {
      long left = look(tenant, Overrun.COUNT, nowMillis).remaining();
      // A tenant that gets nothing is active all the same, because it has requested units.
      long wanted = Math.max(1, Math.min(most, left));
      if (charge(tenant, wanted, Overrun.REFUSE, nowMillis).admitted()) {
        return wanted;
      }
      if (left == 0) {
        return 0;
      }
    }
    return 0;
  }

  /**
   * Returns the decision on a cost of 0: {@code remaining} is what the tenant could take without
   * units that others have reserved. The tenant does not become active.
   */
  public Decision look(FairTenant tenant, Overrun overrun, long nowMillis) {
    follow(tenant.terms());
    TenantState state = peek(tenant.key(), tenant.weight(), nowMillis);
    long untilEnd = shares.windowEndMillis() - nowMillis;
    long remaining = untouched(state);
    long limit = Math.max(state.guarantee(), state.used() + remaining);
    boolean admitted = overrun == Overrun.COUNT || remaining > 0;
    return admitted
        ? Decision.admit(limit, remaining, untilEnd)
        : Decision.refuse(
            limit, remaining, untilEnd, terms.limit() == 0 ? Decision.NEVER : untilEnd);
  }

  /** Returns the state that a tenant would have if it sent a request now. */
  TenantState peek(CounterKey tenant, TenantWeight weight, long nowMillis) {
    roll(nowMillis);
    return shares.peek(tenant, weight);
  }

  /**
   * Returns what a tenant could take in the smallest costs. As one cost, it could take more: such a
   * cost is compared with what is not reserved only by the part beyond the guarantee, so that a
   * lease of a large quantum would use the reserve of others.
   */
  private static long untouched(TenantState state) {
    long own = state.guarantee() - state.used();
    if (own < 0) {
      return 0;
    }
    // With x left that others have not reserved, own + x are available: more than 2 · own if a part
    // of x remains when this tenant has used its own.
    return Math.min(state.available(), state.available() > 2 * own ? own + 1 : own);
  }

  /** Refunds parts of the current window to a tenant, at most what it has used. */
  public Decision refund(FairTenant tenant, long parts, long nowMillis) {
    roll(nowMillis);
    return refund(tenant, parts, shares.windowEndMillis(), nowMillis);
  }

  /**
   * Refunds parts to a tenant, at most what it has used.
   *
   * @param takenWindowEndMillis the window that they were charged in; those of an ended window are
   *     worth nothing
   */
  public Decision refund(FairTenant tenant, long parts, long takenWindowEndMillis, long nowMillis) {
    follow(tenant.terms());
    refund(tenant.key(), parts, takenWindowEndMillis, nowMillis);
    Decision after = look(tenant, Overrun.COUNT, nowMillis);
    return Decision.admit(after.limit(), after.remaining(), after.resetAfterMillis());
  }

  void refund(CounterKey tenant, long parts, long takenWindowEndMillis, long nowMillis) {
    roll(nowMillis);
    shares.refund(tenant, parts, takenWindowEndMillis);
  }

  /**
   * Undoes a charge or refund of this window. The tenant stays active, because it has sent a
   * request.
   *
   * @param parts that were added to {@link #used}; below 0 for a refund
   * @param borrowed as the charge's decision had it
   * @param refused the cost, if it was refused
   */
  public void undo(FairTenant tenant, long parts, long borrowed, long refused) {
    shares.undo(tenant.key(), parts, borrowed, refused);
  }

  /** Forgets a tenant; what it has used in this window returns to the others. */
  public void reset(FairTenant tenant) {
    reset(tenant.key());
  }

  void reset(CounterKey tenant) {
    shares.reset(tenant);
  }

  /** Forgets all tenants, and what was used in this window. */
  void reset() {
    shares.reset();
  }

  /** Returns the number of remembered tenants, active or not. */
  public int size() {
    return shares.size();
  }

  /** Returns whether the tenant with this key has not been evicted. */
  public boolean remembers(CounterKey tenant) {
    return shares.remembers(tenant);
  }

  /** Returns the parts charged in the current window. */
  public long used() {
    return shares.used();
  }

  /** Returns the ms since the epoch from which no tenant has a reserve or has used anything. */
  public long unusedFromMillis() {
    return shares.windowEndMillis() + terms.windowMillis();
  }

  /**
   * Returns a number of tenants that has not been exceeded, by which a store weighs this pool. It
   * at least doubles when it changes. Needs no lock.
   */
  public int room() {
    return room;
  }

  /** Returns counts and sums. */
  public FairFigures figures(long nowMillis) {
    roll(nowMillis);
    return shares.figures();
  }

  /**
   * Changes limit, number of tenants or the unlisted part; charges are kept.
   *
   * @throws IllegalArgumentException when window or resolution differ
   */
  @SuppressWarnings("ReferenceEquality") // almost always the same rule
  void follow(FairTerms newest) {
    if (terms != newest && !terms.equals(newest)) {
      shares.change(newest);
      shares.grant(newest.limit());
    }
    terms = newest;
  }
}
