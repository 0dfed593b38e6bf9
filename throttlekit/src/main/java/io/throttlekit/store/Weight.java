package io.throttlekit.store;

import com.github.benmanes.caffeine.cache.Weigher;
import io.throttlekit.CounterKey;
import io.throttlekit.rate.SlidingLog;

/**
 * The weight of a counter by its possible memory, in counters of usual size: about 400 bytes,
 * including the longest key.
 */
final class Weight implements Weigher<CounterKey, Counter> {
  /**
   * Log entries per unit of weight: a log's buffer, which grows fourfold, takes up to 64 bytes per
   * charge, so four take less than a counter's 400 bytes.
   */
  private static final long LOG_ENTRIES = 4;

  /**
   * Divides the store: no counter weighs more than a sixteenth of it, because one that is heavier
   * than the store would be evicted at once.
   */
  private static final long SHARE = 16;

  private final long heaviest;

  Weight(long maxCounters) {
    heaviest = Math.clamp(maxCounters / SHARE, 1, Integer.MAX_VALUE); // Caffeine weighs in int
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
