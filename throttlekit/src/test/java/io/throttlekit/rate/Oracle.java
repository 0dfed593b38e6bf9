package io.throttlekit.rate;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.ArrayList;
import java.util.List;

/**
 * A rate limit written down the slow way: a list of what was counted, sums over it, and a search ms
 * by ms for the times that a decision names.
 */
abstract class Oracle {

  /** Units counted at a time. */
  record Entry(long at, long units) {}

  final List<Entry> counted = new ArrayList<>();
  final long limit;

  /** How finely what is used is told. */
  private final long scale;

  /** The newest time remembered. */
  long newest = Long.MIN_VALUE;

  Oracle(long limit, long scale) {
    this.limit = limit;
    this.scale = scale;
  }

  /** What is counted at {@code now}, in units times the scale; 0 when nothing is. */
  abstract long usedAt(long now);

  abstract Oracle copy();

  /** When a counter that is unused is whole again. */
  long wholeWhenUnused(long now) {
    return now;
  }

  /** Whether an overdraft counts. */
  boolean keepsDebt() {
    return true;
  }

  void count(long now, long units) {
    newest = Math.max(newest, now);
    counted.add(new Entry(newest, units));
  }

  /** Takes units back, the newest first, from what still counts. */
  void giveBack(long now, long units) {
    long at = Math.max(newest, now);
    long left = units;
    for (int i = counted.size() - 1; i >= 0 && left > 0 && stillCounts(counted.get(i), at); i--) {
      Entry entry = counted.remove(i);
      long taken = Math.min(left, entry.units());
      left -= taken;
      if (taken < entry.units()) {
        counted.add(new Entry(entry.at(), entry.units() - taken));
      }
    }
  }

  abstract boolean stillCounts(Entry entry, long at);

  final Decision charge(long now, long cost, Overrun overrun) {
    long needed = cost == 0 && overrun != Overrun.COUNT ? 1 : cost;
    if (needed <= limit && fits(now, needed)) {
      if (cost > 0) {
        count(now, cost);
      }
      return Decision.admit(limit, left(now), wholeAt(now) - now);
    }
    long left = left(now);
    if (cost > 0 && overrun != Overrun.REFUSE && keepsDebt()) {
      count(now, cost);
      left -= cost;
    }
    return Decision.refuse(limit, left, wholeAt(now) - now, retryAfter(now, needed));
  }

  final Decision refund(long now, long units) {
    giveBack(now, units);
    return Decision.admit(limit, left(now), wholeAt(now) - now);
  }

  /** Whether {@code units}, at most the limit, fit at {@code now}. */
  private boolean fits(long now, long units) {
    return usedAt(now) + units * scale <= limit * scale;
  }

  /** Whole units left at {@code now}, at least 0. */
  private long left(long now) {
    return Math.max(0, limit * scale - usedAt(now)) / scale;
  }

  private boolean used(long now) {
    return usedAt(now) > 0;
  }

  private long retryAfter(long now, long needed) {
    if (needed > limit) {
      return Decision.NEVER;
    }
    long at = now + 1;
    while (!fits(at, needed)) {
      at++;
    }
    return at - now;
  }

  private long wholeAt(long now) {
    long at = Math.max(now, newest);
    if (!used(at)) {
      return wholeWhenUnused(at);
    }
    while (used(at)) {
      at++;
    }
    return at;
  }

  <O extends Oracle> O copyTo(O copy) {
    copy.counted.addAll(counted);
    copy.newest = newest;
    return copy;
  }
}
