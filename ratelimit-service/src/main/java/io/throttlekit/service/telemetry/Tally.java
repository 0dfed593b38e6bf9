package io.throttlekit.service.telemetry;

import io.throttlekit.Decision;
import java.util.concurrent.atomic.LongAdder;

/**
 * Hits of one series, told apart as envoyproxy/ratelimit does.
 *
 * <p>A hit is near the limit when it falls between the near-limit threshold and the limit. Of an
 * admitted charge all hits are within the limit. Of a refused one, all hits are over it when it was
 * not charged; when it was (its remainder is then below zero, a debt), only the part beyond the
 * limit is over it, and the part between the threshold and the limit is near it. Thread-safe and
 * free of locks; adding allocates nothing.
 */
final class Tally {
  final LongAdder withinLimit = new LongAdder();
  final LongAdder nearLimit = new LongAdder();
  final LongAdder overLimit = new LongAdder();
  final LongAdder shadowMode = new LongAdder();

  /** Of charged refusals, the part that was still within the limit. */
  private final LongAdder upToLimit = new LongAdder();

  /**
   * @param hits 0 and more
   * @param nearRatio share of the limit where near begins
   * @param shadowed whether a refusal did not count because the rule is in shadow mode
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

  /** Every hit, whatever became of it. */
  long totalHits() {
    return withinLimit.sum() + overLimit.sum() + upToLimit.sum();
  }

  private void addNear(long hits) {
    if (hits > 0) {
      nearLimit.add(hits);
    }
  }
}
