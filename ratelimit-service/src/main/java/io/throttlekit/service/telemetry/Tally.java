package io.throttlekit.service.telemetry;

import io.throttlekit.Decision;
import java.util.concurrent.atomic.LongAdder;

/**
 * Hits of one series, classified as envoyproxy/ratelimit does.
 *
 * <p>A hit between the near-limit threshold and the limit is near the limit. All hits of an
 * admitted charge are within the limit. If a refused charge was not counted, all its hits are over
 * the limit. If it was counted, its remainder is negative (a debt): then only the part beyond the
 * limit is over it, and the part between the threshold and the limit is near it. Thread-safe and
 * lock-free; adding allocates nothing.
 */
final class Tally {
  final LongAdder withinLimit = new LongAdder();
  final LongAdder nearLimit = new LongAdder();
  final LongAdder overLimit = new LongAdder();
  final LongAdder shadowMode = new LongAdder();

  /** Hits over the limit that a cached refusal decided. */
  final LongAdder fromCache = new LongAdder();

  /** The part of counted refusals that was within the limit. */
  private final LongAdder upToLimit = new LongAdder();

  /**
   * @param hits from 0
   * @param nearRatio fraction of the limit from which a hit is near it
   * @param shadowed whether the refusal had no effect because the rule is in shadow mode
   */
  void add(long hits, Decision decision, float nearRatio, boolean shadowed) {
    if (hits == 0) {
      return;
    }
    long limit = decision.limit();
    long near = (long) Math.floor(limit * nearRatio);
    long after = limit - decision.remaining();
    long before = after - hits;
    if (decision.admitted()) {
      withinLimit.add(hits);
      addNear(before >= near ? hits : after - near);
    } else {
      boolean straddles = decision.remaining() < 0 && before < limit;
      long over = straddles ? after - limit : hits;
      overLimit.add(over);
      if (straddles) {
        upToLimit.add(hits - over);
        addNear(limit - Math.max(near, before));
      }
      if (shadowed) {
        shadowMode.add(over);
      }
    }
  }

  /** Returns the number of all hits. */
  long totalHits() {
    return withinLimit.sum() + overLimit.sum() + upToLimit.sum();
  }

  private void addNear(long hits) {
    if (hits > 0) {
      nearLimit.add(hits);
    }
  }
}
