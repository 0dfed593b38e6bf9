package io.throttlekit.service.store;

import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.redis.RedisCounterStore;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Counters in two Redis servers: those of limits per second, whose window is exactly one second, in
 * the second one, all others in the first.
 *
 * <p>A request with counters in both calls the second one first: what has to be returned because
 * the other one refuses or fails then counts for a second at most.
 *
 * <p>Thread-safe and non-blocking, as both stores are.
 *
 * @param others the store of all other counters
 */
record PerSecondStore(RedisCounterStore perSecond, RedisCounterStore others)
    implements CounterStore {
  private static final long SECOND_MILLIS = 1_000;

  /** Returns whether the counters of this limit are in the second Redis. */
  static boolean isPerSecond(RateAlgorithm<?> algorithm) {
    return algorithm.windowMillis() == SECOND_MILLIS;
  }

  private RedisCounterStore of(RateAlgorithm<?> algorithm) {
    return isPerSecond(algorithm) ? perSecond : others;
  }

  @Override
  public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
    boolean any = false;
    boolean all = true;
    for (int c = 0; c < claims.size(); c++) { // by index: no iterator per request
      List<Charge> ofClaim = claims.get(c).charges();
      for (int i = 0; i < ofClaim.size(); i++) {
        boolean second = isPerSecond(ofClaim.get(i).algorithm());
        any |= second;
        all &= second;
      }
    }
    if (!any) {
      return others.acquire(claims, waitNanos);
    }
    return all
        ? perSecond.acquire(claims, waitNanos)
        : RedisCounterStore.acquire(
            List.of(perSecond, others),
            charge -> isPerSecond(charge.algorithm()) ? 0 : 1,
            claims,
            waitNanos);
  }

  @Override
  public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
    return of(request.window()).lease(request);
  }

  @Override
  public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
    return of(lease.window()).returnUnits(lease, windowEndMillis, units);
  }

  @Override
  public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
    return of(algorithm).reset(key, algorithm);
  }

  @Override
  public CompletionStage<Void> resetTenant(CounterKey key, FairTenant tenant) {
    boolean second = tenant.terms().windowMillis() == SECOND_MILLIS;
    return (second ? perSecond : others).resetTenant(key, tenant);
  }

  @Override
  public void close() {
    perSecond.close();
    others.close();
  }
}
