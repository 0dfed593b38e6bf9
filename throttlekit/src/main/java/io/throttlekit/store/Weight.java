package io.throttlekit.store;

import com.github.benmanes.caffeine.cache.Weigher;
import io.throttlekit.CounterKey;
import io.throttlekit.rate.SlidingLog;

/**
 * How much memory a counter may take, in counters of the usual size: about 400 bytes, the longest
 * key with them.
 */
final class Weight implements Weigher<CounterKey, Counter> {
  /** A log's buffer, which grows fourfold, takes up to 64 bytes for each charge. */
  private static final long LOG_ENTRIES = 4;

  /** A counter heavier than the store would leave it at once. */
  private static final long SHARE = 16;

  private final long heaviest;

  Weight(long maxCounters) {
    heaviest = Math.clamp(maxCounters / SHARE, 1, Integer.MAX_VALUE);
  }

  @Override
  public int weigh(CounterKey key, Counter counter) {
    long weight = 1;
    if (counter.algorithm() instanceof SlidingLog log) {
      weight += log.limit() / LOG_ENTRIES;
    }
    return (int) Math.min(heaviest, weight);
  }
}
