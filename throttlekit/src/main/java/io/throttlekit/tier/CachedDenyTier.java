package io.throttlekit.tier;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the store's refusals. A cached refusal answers later requests for the same counter, or
 * the same tenant of it, that cost at least as much, until it expires. Thread-safe.
 *
 * <p>A refusal expires at its own retry time, counted from before the request was sent to the
 * store. Until then the store would have refused any caller, unless units were returned meanwhile.
 * A tenant's guarantee falls within a window as others join, so a cost beyond it stays beyond it;
 * only what is lent may have grown since.
 */
final class CachedDenyTier {
  /**
   * One cached refusal.
   *
   * @param cost the refused cost, from 1; peeks and refunds cost less, so they always go to the
   *     store
   * @param algorithm the limit that refused; a reload may replace it
   * @param tenant the tenant that was refused, whose weight may change
   * @param untilNanos the retry time, monotonic
   * @param resetNanos the reset time, monotonic
   */
  private record Denial(
      long cost,
      RateAlgorithm<?> algorithm,
      @Nullable FairTenant tenant,
      long limit,
      long remaining,
      long untilNanos,
      long resetNanos) {

    boolean isOf(RateAlgorithm<?> newest, @Nullable FairTenant sharing) {
      return newest.equals(algorithm) && Objects.equals(sharing, tenant);
    }

    /** Returns the largest cost that can ever fit. A tenant's limit differs between windows. */
    long most() {
      return tenant == null ? limit : tenant.terms().limitParts();
    }
  }

  private final Cache<CounterKey, Denial> denials;

  CachedDenyTier(long maxRefusals, TimeSource time) {
    denials =
        Caffeine.newBuilder()
            .maximumSize(maxRefusals)
            // at its retry time, which may be over when the answer arrives
            .expireAfter(
                Expiry.<CounterKey, Denial>writing((_, denial) ->
                    Duration.ofNanos(Math.max(0, denial.untilNanos - time.monotonicNanos()))))
            .ticker(time::monotonicNanos)
            .executor(Runnable::run) // maintenance on the calling thread, without a pool
            .build();
  }

  /** Returns the number of cached refusals, after expired ones have been removed. */
  long size() {
    denials.cleanUp();
    return denials.estimatedSize();
  }

  /** Removes every refusal. */
  void clear() {
    denials.invalidateAll();
  }

  /** Returns the cached refusal of {@code charge}; null when the store has to decide. */
  @Nullable Decision refusal(Charge charge, long nowNanos) {
    Denial denial = denials.getIfPresent(charge.chargedKey());
    if (denial == null
        || charge.cost() < denial.cost
        || !denial.isOf(charge.algorithm(), charge.tenant())
        || nowNanos - denial.untilNanos >= 0) {
      return null;
    }
    long wait = Math.max(1, millis(denial.untilNanos - nowNanos));
    long reset = Math.max(0, millis(denial.resetNanos - nowNanos));
    // The cached refusal may be that of a smaller cost; a cost above the limit never fits.
    long retry = charge.cost() > denial.most() ? Decision.NEVER : wait;
    return Decision.refuse(denial.limit, denial.remaining, reset, retry);
  }

  /**
   * Caches the store's decision on a charge. No other charge of the same request may share its
   * counter, also not another tenant of it, or the decision would not be that of this charge alone.
   *
   * @param sentNanos when the request was sent to the store, monotonic
   */
  void learn(Charge charge, Decision decision, long sentNanos) {
    // A refund frees units: a refusal from before it no longer holds.
    if (charge.cost() < 0) {
      denials.invalidate(charge.chargedKey());
      return;
    }
    // A cost beyond the limit has no retry time; peeks (cost 0) always go to the store.
    if (decision.admitted() || decision.neverFits() || charge.cost() == 0) {
      return;
    }
    Denial next =
        new Denial(
            charge.cost(),
            charge.algorithm(),
            charge.tenant(),
            decision.limit(),
            Math.max(0, decision.remaining()), // an overdraft reports less than 0
            sentNanos + MonotonicSpan.nanos(decision.retryAfterMillis()),
            sentNanos + MonotonicSpan.nanos(decision.resetAfterMillis()));
    denials.asMap().merge(charge.chargedKey(), next, (old, now) -> stronger(old, now, sentNanos));
  }

  private static Denial stronger(Denial old, Denial next, long nowNanos) {
    // Of two refusals that hold, the smaller cost answers more requests.
    boolean oldStands = old.isOf(next.algorithm, next.tenant) && nowNanos - old.untilNanos < 0;
    return oldStands && old.cost < next.cost ? old : next;
  }

  private static long millis(long nanos) {
    return Math.ceilDiv(nanos, NANOS_PER_MILLI);
  }
}
