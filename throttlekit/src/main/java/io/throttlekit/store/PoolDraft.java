package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.fairness.FairDecision;
import io.throttlekit.fairness.FairPool;
import io.throttlekit.fairness.FairTenant;
import org.jspecify.annotations.Nullable;

/**
 * A pool after some charges of one request. A pool is changed in place, because a copy would visit
 * all tenants; each draft knows how to undo its charge.
 */
final class PoolDraft {
  private final FairPool pool;

  /** Absent in the first draft, which has no charge. */
  private final @Nullable PoolDraft before;

  private @Nullable FairTenant tenant;
  private @Nullable Decision decision;
  private long parts;
  private long borrowed;
  private long refused;

  private PoolDraft(FairPool pool, @Nullable PoolDraft before) {
    this.pool = pool;
    this.before = before;
  }

  /** Returns the draft of a pool as it is. */
  static PoolDraft of(FairPool pool) {
    return new PoolDraft(pool, null);
  }

  FairPool pool() {
    return pool;
  }

  /** Returns the decision on the last charge. */
  Decision decision() {
    if (decision == null) {
      throw new IllegalStateException("the first draft has no charge");
    }
    return decision;
  }

  /** Applies a charge, a peek or a refund; the result must be undone before this draft. */
  PoolDraft charge(FairTenant of, Charge charge, long nowMillis) {
    pool.roll(nowMillis); // before the use is read: a new window begins with nothing used
    long usedBefore = pool.used();
    PoolDraft next = new PoolDraft(pool, this);
    next.tenant = of;
    long cost = charge.cost();
    if (cost > 0) {
      FairDecision fair = pool.charge(of, cost, charge.overrun(), nowMillis);
      next.decision = fair.decision();
      next.borrowed = fair.borrowed();
      next.refused = fair.admitted() ? 0 : cost;
    } else if (cost == 0) {
      next.decision = pool.look(of, charge.overrun(), nowMillis);
    } else {
      next.decision = pool.refund(of, -cost, nowMillis);
    }
    next.parts = pool.used() - usedBefore;
    return next;
  }

  /** Undoes charges, the last one first, until the pool is as in an earlier draft. */
  @SuppressWarnings("ReferenceEquality") // a draft is a position in the order of charges
  void undoUntil(@Nullable Object earlier) {
    for (PoolDraft last = this; last != null && last != earlier; last = last.before) {
      if (last.tenant != null) {
        pool.undo(last.tenant, last.parts, last.borrowed, last.refused);
      }
    }
  }
}
