package io.throttlekit.fairness;

import io.throttlekit.Cost;
import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;

/**
 * A limit per window, aligned to the epoch, that many tenants share by weight.
 *
 * <p>Each active tenant is guaranteed its part. What no active tenant has a claim to is lent to
 * those who ask first. A tenant is active if it sent a request in this window or in the one before,
 * admitted or not; one that comes back later has its guarantee at once, as far as units are left,
 * and its full part from the next window on. {@link FairShares} has the rules.
 *
 * <p>Thread-safe. One lock for each pool is held for a decision: the tenants of a pool depend on
 * each other, and the decisions of different pools do not wait for each other. A decision changes a
 * few sums. If the sum of weights has changed, the next one beyond a guarantee computes the reserve
 * anew, in O(k · log n) for k distinct weights and n active tenants, and O(log n) for each tenant
 * that was charged since the last change. {@code FairShareBenchmark} measures both.
 */
public final class WeightedFairEscrow {
  private final FairPool pool;

  /** Creates a pool without tenants. */
  public WeightedFairEscrow(FairTerms terms) {
    this.pool = new FairPool(terms);
  }

  /**
   * Charges a tenant if its cost is within what it may take.
   *
   * @param weight the tenant's from now on
   * @param cost parts from 0 to {@link Cost#MAX}; 0 consumes nothing and asks for the smallest cost
   * @param nowMillis ms since the epoch; times that run backwards stay in the newest window
   */
  public FairDecision tryAcquire(
      CounterKey tenant, TenantWeight weight, long cost, long nowMillis) {
    return charge(tenant, weight, cost, Overrun.REFUSE, nowMillis);
  }

  /** Charges a tenant, even if its cost exceeds what it may take, depending on {@code overrun}. */
  public synchronized FairDecision charge(
      CounterKey tenant, TenantWeight weight, long cost, Overrun overrun, long nowMillis) {
    if (cost < 0 || cost > Cost.MAX) {
      throw new IllegalArgumentException("cost must be from 0 to 2^53-1, was " + cost);
    }
    return pool.charge(tenant, weight, cost, overrun, nowMillis);
  }

  /** Refunds parts that a tenant was charged in a window, if that has not ended. */
  public synchronized void refund(
      CounterKey tenant, long parts, long takenWindowEndMillis, long nowMillis) {
    pool.refund(tenant, parts, takenWindowEndMillis, nowMillis);
  }

  /** Returns the state that a tenant would have if it sent a request now. Changes nothing. */
  public synchronized TenantState peek(CounterKey tenant, TenantWeight weight, long nowMillis) {
    return pool.peek(tenant, weight, nowMillis);
  }

  /** Forgets a tenant; what it has used in this window returns to the others. */
  public synchronized void reset(CounterKey tenant) {
    pool.reset(tenant);
  }

  /** Forgets all tenants, and what was used in this window. */
  public synchronized void reset() {
    pool.reset();
  }

  /**
   * Changes limit, number of tenants or the unlisted part; charges are kept.
   *
   * @throws IllegalArgumentException when window or resolution differ
   */
  public synchronized void change(FairTerms newest) {
    pool.follow(newest);
  }

  /** Returns counts and sums. */
  public synchronized FairFigures figures(long nowMillis) {
    return pool.figures(nowMillis);
  }
}
