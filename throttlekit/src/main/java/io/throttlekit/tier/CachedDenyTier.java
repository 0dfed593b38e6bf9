package io.throttlekit.tier;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import io.throttlekit.Charge;
import io.throttlekit.CounterKey;
import io.throttlekit.Decision;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.RateAlgorithm;
import org.jspecify.annotations.Nullable;

/**
 * Refusals of the store that still stand, and refuse what costs as much or more. Thread-safe.
 *
 * <p>A refusal stands until its own retry time, counted from before the store was asked: the store
 * would have refused until then whoever asked, unless units were given back meanwhile.
 */
final class CachedDenyTier {
  /**
   * One refusal.
   *
   * @param cost what was refused, from 1: peeks and refunds are less, and always asked
   * @param algorithm that refused; a reload may bring another
   * @param untilNanos monotonic
   * @param resetNanos monotonic
   */
  private record Denial(
      long cost,
      RateAlgorithm<?> algorithm,
      long limit,
      long remaining,
      long untilNanos,
      long resetNanos) {}

  private final Cache<CounterKey, Denial> denials;

  CachedDenyTier(long most, TimeSource time) {
    denials =
        Caffeine.newBuilder()
            .maximumSize(most)
            .expireAfter(new UntilItsEnd())
            .ticker(time::monotonicNanos)
            .executor(Runnable::run)
            .build();
  }

  /** A refusal that no longer stands is not kept. */
  private static final class UntilItsEnd implements Expiry<CounterKey, Denial> {
    @Override
    public long expireAfterCreate(CounterKey key, Denial denial, long nowNanos) {
      return Math.max(0, denial.untilNanos - nowNanos);
    }

    @Override
    public long expireAfterUpdate(CounterKey key, Denial denial, long nowNanos, long leftNanos) {
      return expireAfterCreate(key, denial, nowNanos);
    }

    @Override
    public long expireAfterRead(CounterKey key, Denial denial, long nowNanos, long leftNanos) {
      return leftNanos;
    }
  }

  /** How many refusals are kept, after those that no longer stand have left. */
  long size() {
    denials.cleanUp();
    return denials.estimatedSize();
  }

  /** Forgets every refusal. */
  void clear() {
    denials.invalidateAll();
  }

  /** The refusal of {@code charge} that stands; null when the store is to be asked. */
  @Nullable Decision refusal(Charge charge, long nowNanos) {
    Denial denial = denials.getIfPresent(charge.key());
    if (denial == null
        || charge.cost() < denial.cost
        || !charge.algorithm().equals(denial.algorithm)
        || nowNanos - denial.untilNanos >= 0) {
      return null;
    }
    long wait = Math.max(1, millis(denial.untilNanos - nowNanos));
    long reset = Math.max(0, millis(denial.resetNanos - nowNanos));
    long retry = charge.cost() > denial.limit ? Decision.NEVER : wait;
    return Decision.refuse(denial.limit, denial.remaining, reset, retry);
  }

  /**
   * Remembers what the store answered to a charge that no other of its request shares a counter
   * with.
   *
   * @param sentNanos when it was asked
   */
  void learn(Charge charge, Decision decision, long sentNanos) {
    if (charge.cost() < 0) {
      denials.invalidate(charge.key());
      return;
    }
    if (decision.admitted() || decision.neverFits() || charge.cost() == 0) {
      return;
    }
    Denial next =
        new Denial(
            charge.cost(),
            charge.algorithm(),
            decision.limit(),
            Math.max(0, decision.remaining()),
            sentNanos + MonotonicSpan.nanos(decision.retryAfterMillis()),
            sentNanos + MonotonicSpan.nanos(decision.resetAfterMillis()));
    denials.asMap().merge(charge.key(), next, (old, now) -> stronger(old, now, sentNanos));
  }

  private static Denial stronger(Denial old, Denial next, long nowNanos) {
    boolean oldStands = old.algorithm.equals(next.algorithm) && nowNanos - old.untilNanos < 0;
    return oldStands && old.cost < next.cost ? old : next;
  }

  private static long millis(long nanos) {
    return Math.ceilDiv(nanos, NANOS_PER_MILLI);
  }
}
