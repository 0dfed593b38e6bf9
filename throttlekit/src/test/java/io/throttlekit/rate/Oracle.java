package io.throttlekit.rate;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import java.util.ArrayList;
import java.util.List;

/**
 * A simple and slow rate limit: a list of charges, sums over it, and a search ms by ms for the
 * times in a decision.
 */
abstract class Oracle {

  /** Units charged at a time. */
  record Entry(long at, long units) {}

  final List<Entry> counted = new ArrayList<>();
  final long limit;

  /** The resolution of used units. */
  private final long scale;

  /** The newest time seen. */
  long newest = Long.MIN_VALUE;

  Oracle(long limit, long scale) {
    this.limit = limit;
    this.scale = scale;
  }

  /** Returns the used units at {@code now} times the scale; 0 if there are none. */
  abstract long usedAt(long now);

  abstract Oracle copy();

  /** Returns the reset time of an unused counter. */
  long wholeWhenUnused(long now) {
    return now;
  }

  /** Returns whether an overdraft counts. */
  boolean keepsDebt() {
    return true;
  }

  void count(long now, long units) {
    newest = Math.max(newest, now);
    counted.add(new Entry(newest, units));
  }

  /** Refunds units, the newest first, as far as they still count. */
  void returnUnits(long now, long units) {
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
    returnUnits(now, units);
    return Decision.admit(limit, left(now), wholeAt(now) - now);
  }

  /** Returns whether {@code units}, at most the limit, fit at {@code now}. */
  private boolean fits(long now, long units) {
    return usedAt(now) + units * scale <= limit * scale;
  }

  /** Returns the whole units left at {@code now}, at least 0. */
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
