package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * Admits at most {@code limit} units in any window, exactly: the time of every charge is kept for
 * one window.
 *
 * <p>A charge made exactly one window ago no longer counts. Each charge costs 16 to 64 bytes, so
 * this is for small limits. Charges of the same ms are one entry. If overdrafts create more entries
 * than the limit plus two, the oldest are merged at the newest of their times; decisions stay the
 * same unless units are refunded, in which case the merged units count longer. A debt beyond {@link
 * Cost#MAX} is capped at that, at its newest charge. Time that runs backwards is treated as the
 * newest time seen. Times are exact up to the year 2109.
 *
 * @param limit units per window, from 0 (refuse everything) to 200,000
 * @param windowMillis length of the window in ms, from 1
 */
public record SlidingLog(long limit, long windowMillis) implements RateAlgorithm<SlidingLog.State> {
  /** The largest limit: a log of so many charges takes 16 MB. */
  public static final long MAX_LIMIT = 200_000;

  /** A new log is started before running totals could overflow a long. */
  private static final long MAX_TOTAL = Long.MAX_VALUE / 2;

  /**
   * The charges of one counter, oldest first; the newest is kept outside of the shared log. Two
   * numbers share a long, because every charge creates a state.
   */
  public static final class State {
    private static final int TO_BITS = Integer.numberOfTrailingZeros(ChargeLog.MAX_CAPACITY);

    private final ChargeLog log;

    /**
     * Units of all charges since the log began; the units of a range are a difference of totals.
     */
    private final long total;

    private final long newestAndTo;

    private State(ChargeLog log, int to, long newestMillis, long total) {
      this.log = log;
      this.total = total;
      this.newestAndTo = newestMillis << TO_BITS | to;
    }

    private long newestMillis() {
      return newestAndTo >> TO_BITS;
    }

    /** Returns the end of the charges in the log, exclusive. */
    private int to() {
      return (int) newestAndTo & (ChargeLog.MAX_CAPACITY - 1);
    }
  }

  /** Checks the ranges. */
  public SlidingLog {
    Range.checkLimit(limit);
    Range.checkWindow(windowMillis);
    if (limit > MAX_LIMIT) {
      throw new IllegalArgumentException(
          "limit of a sliding log must be at most " + MAX_LIMIT + ", was " + limit);
    }
  }

  @Override
  public String id() {
    return "sliding_log";
  }

  @Override
  public Transition<State> charge(
      @Nullable State state, long nowMillis, long cost, Overrun overrun) {
    long at = state == null ? nowMillis : Math.max(nowMillis, state.newestMillis());
    long left = limit - used(state, at);
    long needed = Range.needed(cost, overrun);
    if (needed <= left) {
      State next = cost == 0 ? state : append(state, at, cost);
      return new Transition<>(next, admission(next, nowMillis, left - cost));
    }
    long debt = Range.debt(cost, overrun);
    State next = debt == 0 ? state : append(state, at, debt);
    return new Transition<>(
        next,
        Decision.refuse(
            limit,
            Math.max(0, left) - debt,
            resetAfter(next, nowMillis),
            retryAfter(next, at, needed, nowMillis)));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    if (state == null) {
      return new Transition<>(null, admission(null, nowMillis, limit));
    }
    long at = Math.max(nowMillis, state.newestMillis());
    long total = Math.max(liveBefore(state, at, firstLive(state, at)), state.total - units);
    State next = cutTo(state, total);
    return new Transition<>(next, admission(next, nowMillis, limit - used(next, at)));
  }

  @Override
  public long unusedFromMillis(State state) {
    boolean newestIsEmpty = state.total == before(state, state.to());
    if (!newestIsEmpty) {
      return state.newestMillis() + windowMillis;
    }
    return state.to() == 0
        ? state.newestMillis()
        : Math.max(state.newestMillis(), state.log.millis(state.to() - 1) + windowMillis);
  }

  /** Returns time and running total of each charge that may count, oldest first. */
  @Override
  public long[] numbers(State state) {
    int from = firstLive(state, state.newestMillis());
    long forgotten = before(state, from);
    long[] numbers = new long[2 * (state.to() - from) + 2];
    int at = 0;
    for (int i = from; i < state.to(); i++) {
      numbers[at++] = state.log.millis(i);
      numbers[at++] = state.log.total(i) - forgotten;
    }
    numbers[at++] = state.newestMillis();
    numbers[at] = state.total - forgotten;
    return numbers;
  }

  @Override
  public State ofNumbers(long[] numbers) {
    Range.checkPairs(id(), numbers);
    int to = numbers.length / 2 - 1;
    int room = to > limit ? 0 : 1; // above the limit, the next charge copies and merges
    ChargeLog log = to + room == 0 ? ChargeLog.EMPTY : ChargeLog.of(numbers, to, room);
    return new State(log, to, numbers[2 * to], numbers[2 * to + 1]);
  }

  private long used(@Nullable State state, long at) {
    return state == null ? 0 : state.total - liveBefore(state, at, firstLive(state, at));
  }

  /** Returns the units charged before the oldest charge that counts at {@code at}. */
  private long liveBefore(State state, long at, int firstLive) {
    boolean newestCounts = state.newestMillis() > at - windowMillis;
    return newestCounts ? before(state, firstLive) : state.total;
  }

  /**
   * Returns the index of the oldest charge in the log that counts at {@code at}, or {@code to} if
   * none does.
   */
  private int firstLive(State state, long at) {
    int low = 0;
    int high = state.to();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (state.log.millis(middle) > at - windowMillis) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  private static long before(State state, int index) {
    return state.log.total(index - 1);
  }

  private State append(@Nullable State state, long at, long cost) {
    if (state == null || state.newestMillis() <= at - windowMillis) {
      return new State(ChargeLog.EMPTY, 0, at, cost);
    }
    int from = firstLive(state, at);
    long forgotten = before(state, from);
    // The debt is capped: beyond Cost.MAX numbers are not exact in Lua.
    if (state.total - forgotten > Cost.MAX - cost) {
      return new State(ChargeLog.EMPTY, 0, at, Cost.MAX);
    }
    // Charges of the same ms share an entry, and a refunded newest entry is reused.
    if (state.newestMillis() == at || state.total == before(state, state.to())) {
      return new State(state.log, state.to(), at, state.total + cost);
    }
    if (state.total <= MAX_TOTAL
        && state.log.append(state.to(), state.newestMillis(), state.total)) {
      return new State(state.log, state.to() + 1, at, state.total + cost);
    }
    // Every entry has at least one unit, so entries before the last limit + 1 need no times of
    // their own: a charge that waits for one of them to expire waits for newer ones, too.
    int whole = (int) Math.max(from, state.to() - limit);
    ChargeLog copy = state.log.copyOf(from, whole, state.to(), state.newestMillis(), state.total);
    int size = state.to() - Math.max(from, whole - 1) + 1;
    return new State(copy, size, at, state.total - forgotten + cost);
  }

  /**
   * Returns the state with {@code total}. Its newest time stays, even without units, and so do
   * older charges: a clock may step back to them.
   */
  private State cutTo(State state, long total) {
    if (total == state.total) {
      return state;
    }
    if (total >= before(state, state.to())) {
      return new State(state.log, state.to(), state.newestMillis(), total);
    }
    int from = firstLive(state, state.newestMillis());
    int last = state.to() - 1;
    while (before(state, last) >= total && last > from) {
      last--;
    }
    if (total == before(state, last)) {
      return new State(ChargeLog.EMPTY, 0, state.newestMillis(), 0);
    }
    ChargeLog copy = state.log.copyOf(from, from, last, state.log.millis(last), total);
    int size = last - from + 1;
    return new State(copy, size, state.newestMillis(), total - before(state, from));
  }

  private Decision admission(@Nullable State state, long nowMillis, long left) {
    return Decision.admit(limit, Math.max(0, left), resetAfter(state, nowMillis));
  }

  private long retryAfter(@Nullable State state, long at, long needed, long nowMillis) {
    return needed > limit || state == null
        ? Decision.NEVER
        : freeFrom(state, at, needed - limit + used(state, at)) - nowMillis;
  }

  /** Returns the ms from which {@code units} of those that count at {@code at} have expired. */
  private long freeFrom(State state, long at, long units) {
    int first = firstLive(state, at);
    long target = liveBefore(state, at, first) + units;
    int low = first;
    int high = state.to();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (state.log.total(middle) >= target) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    long charged = low == state.to() ? state.newestMillis() : state.log.millis(low);
    return charged + windowMillis;
  }

  private long resetAfter(@Nullable State state, long nowMillis) {
    return state == null ? 0 : Math.max(0, unusedFromMillis(state) - nowMillis);
  }
}
