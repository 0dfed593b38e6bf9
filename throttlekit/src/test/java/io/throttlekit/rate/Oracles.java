package io.throttlekit.rate;

/** The oracles of all algorithms. */
final class Oracles {
  private Oracles() {}

  static Oracle of(RateAlgorithm<?> algorithm) {
    return switch (algorithm) {
      case FixedWindow a -> new Windows(a.limit(), a.windowMillis());
      case SlidingWindow a -> new Slices(a.limit(), a.windowMillis(), a.buckets());
      case SlidingLog a -> new Log(a.limit(), a.windowMillis());
      case Gcra a -> new ArrivalTime(a.rate(), a.windowMillis(), a.burst());
      case TokenBucket a -> new Backlog(a.refill(), a.windowMillis(), a.capacity());
    };
  }

  private static final class Windows extends Oracle {
    private final long window;

    Windows(long limit, long window) {
      super(limit, 1);
      this.window = window;
    }

    @Override
    long usedAt(long now) {
      long index = Math.floorDiv(Math.max(now, newest), window);
      return counted.stream()
          .filter(e -> Math.floorDiv(e.at(), window) == index)
          .mapToLong(Entry::units)
          .sum();
    }

    @Override
    boolean stillCounts(Entry entry, long at) {
      return Math.floorDiv(entry.at(), window) == Math.floorDiv(at, window);
    }

    @Override
    long wholeWhenUnused(long now) {
      return (Math.floorDiv(now, window) + 1) * window;
    }

    @Override
    Oracle copy() {
      return copyTo(new Windows(limit, window));
    }
  }

  private static final class Log extends Oracle {
    private final long window;

    Log(long limit, long window) {
      super(limit, 1);
      this.window = window;
    }

    @Override
    long usedAt(long now) {
      long at = Math.max(now, newest);
      return counted.stream().filter(e -> stillCounts(e, at)).mapToLong(Entry::units).sum();
    }

    @Override
    boolean stillCounts(Entry entry, long at) {
      return entry.at() + window > at;
    }

    @Override
    Oracle copy() {
      return copyTo(new Log(limit, window));
    }
  }

  /** Slices are named by their index; estimates are in units times ms of a slice. */
  private static final class Slices extends Oracle {
    private final long window;
    private final int buckets;
    private final long slice;

    Slices(long limit, long window, int buckets) {
      super(limit, window / buckets);
      this.window = window;
      this.buckets = buckets;
      this.slice = window / buckets;
    }

    private long index(long at) {
      return Math.floorDiv(at, slice);
    }

    /** Time within the newest slice is ignored. */
    private long effective(long now) {
      return newest == Long.MIN_VALUE ? now : Math.max(now, index(newest) * slice);
    }

    @Override
    long usedAt(long now) {
      long at = effective(now);
      long sum = 0;
      for (Entry entry : counted) {
        long age = index(at) - index(entry.at());
        if (age < buckets) {
          sum += entry.units() * slice;
        } else if (age == buckets) {
          sum += entry.units() * (slice - Math.floorMod(at, slice));
        }
      }
      return sum;
    }

    @Override
    long wholeWhenUnused(long now) {
      return effective(now);
    }

    @Override
    boolean stillCounts(Entry entry, long at) {
      return index(at) - index(entry.at()) <= buckets;
    }

    @Override
    void count(long now, long units) {
      super.count(index(effective(now)) * slice, units);
    }

    @Override
    Oracle copy() {
      return copyTo(new Slices(limit, window, buckets));
    }
  }

  /** The theoretical arrival time, in ms times the rate. */
  private static final class ArrivalTime extends Oracle {
    private final long rate;
    private final long window;
    private long arrival = Long.MIN_VALUE / 2;

    ArrivalTime(long rate, long window, long burst) {
      super(burst, window);
      this.rate = rate;
      this.window = window;
    }

    @Override
    long usedAt(long now) {
      return Math.max(0, arrival - now * rate);
    }

    @Override
    void count(long now, long units) {
      super.count(now, units);
      arrival = Math.max(arrival, newest * rate) + units * window;
    }

    @Override
    void returnUnits(long now, long units) {
      long at = Math.max(now, newest) * rate;
      if (arrival > at) {
        arrival = Math.max(at, arrival - units * window);
        newest = Math.max(now, newest);
      }
    }

    @Override
    boolean keepsDebt() {
      return rate > 0;
    }

    @Override
    boolean stillCounts(Entry entry, long at) {
      return true;
    }

    @Override
    Oracle copy() {
      ArrivalTime copy = copyTo(new ArrivalTime(rate, window, limit));
      copy.arrival = arrival;
      return copy;
    }
  }

  /**
   * The tokens missing in a bucket are the largest excess, over all past times, of the units
   * charged since then over the tokens regained since then.
   */
  private static final class Backlog extends Oracle {
    private final long refill;
    private final long window;

    Backlog(long refill, long window, long capacity) {
      super(capacity, window);
      this.refill = refill;
      this.window = window;
    }

    @Override
    long usedAt(long now) {
      long at = Math.max(now, newest);
      long largest = 0;
      long taken = 0;
      for (int i = counted.size() - 1; i >= 0; i--) {
        taken += counted.get(i).units() * window;
        largest = Math.max(largest, taken - refill * (at - counted.get(i).at()));
      }
      return largest;
    }

    @Override
    void returnUnits(long now, long units) {
      if (usedAt(now) > 0) {
        count(now, -units);
      }
    }

    @Override
    boolean keepsDebt() {
      return refill > 0;
    }

    @Override
    boolean stillCounts(Entry entry, long at) {
      return true;
    }

    @Override
    void count(long now, long units) {
      if (usedAt(now) == 0) {
        counted.clear(); // repaid charges never matter again, and the search below stays short
      }
      super.count(now, units);
    }

    @Override
    Oracle copy() {
      return copyTo(new Backlog(refill, window, limit));
    }
  }
}
