package io.throttlekit.rate;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * At most {@code limit} units in any window, exactly: the time of every charge is remembered for
 * one window.
 *
 * <p>A charge made exactly one window ago no longer counts. Costs 16 bytes per remembered charge,
 * at most {@code limit} of them, so it is for small limits. Time that runs backwards is taken as
 * the newest time seen.
 *
 * @param limit units per window, from 0 (refuse everything) to 1,000,000
 * @param windowMillis length of the window in ms, from 1
 */
public record SlidingLog(long limit, long windowMillis) implements RateAlgorithm<SlidingLog.State> {
  /** The largest limit: a log of so many charges takes 16 MB. */
  public static final long MAX_LIMIT = 1_000_000;

  /**
   * The charges of one counter, oldest first. Units are counted from the counter's first charge on,
   * so the units of a stretch of the log are a difference of two numbers.
   *
   * @param log times and running totals of the charges {@code from} to {@code to − 1}
   * @param from the first charge that may still count
   * @param to the end of the charges in the log
   * @param forgotten units charged before {@code from}
   * @param newestMillis time of the newest charge, which is not in the log yet
   * @param total units charged ever, the newest charge included
   */
  public record State(
      ChargeLog log, int from, int to, long forgotten, long newestMillis, long total) {

    /** Units charged before the {@code index}th charge of the log. */
    long before(int index) {
      return index == from ? forgotten : log.total(index - 1);
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
    long at = state == null ? nowMillis : Math.max(nowMillis, state.newestMillis);
    long left = limit - used(state, at);
    if (cost == 0) {
      boolean admitted = overrun == Overrun.COUNT ? left >= 0 : left > 0;
      return new Transition<>(
          state, admitted ? admission(state, at, left) : refusal(state, at, nowMillis, 1, left));
    }
    if (cost <= left) {
      State next = append(state, at, cost);
      return new Transition<>(next, admission(next, at, left - cost));
    }
    Decision refusal = refusal(state, at, nowMillis, cost, left);
    if (overrun == Overrun.REFUSE) {
      return new Transition<>(state, refusal);
    }
    State next = append(state, at, cost);
    return new Transition<>(
        next, Decision.refuse(limit, 0, resetAt(next, at), refusal.retryAfterMillis()));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    if (state == null) {
      return new Transition<>(null, admission(null, nowMillis, limit));
    }
    long at = Math.max(nowMillis, state.newestMillis);
    int from = firstLive(state, at);
    long total = Math.max(liveBefore(state, at, from), state.total - units);
    State next = cutTo(state, from, total);
    return new Transition<>(next, admission(next, at, limit - used(next, at)));
  }

  @Override
  public long unusedFromMillis(State state) {
    return state.newestMillis + windowMillis;
  }

  private long used(@Nullable State state, long at) {
    return state == null ? 0 : state.total - liveBefore(state, at, firstLive(state, at));
  }

  /** Units charged before the oldest charge that counts at {@code at}. */
  private long liveBefore(State state, long at, int firstLive) {
    boolean newestCounts = state.newestMillis > at - windowMillis;
    return newestCounts ? state.before(firstLive) : state.total;
  }

  /** Index of the oldest charge in the log that counts at {@code at}; {@code to} when none does. */
  private int firstLive(State state, long at) {
    int low = state.from;
    int high = state.to;
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

  private State append(@Nullable State state, long at, long cost) {
    if (state == null || state.newestMillis <= at - windowMillis) {
      return new State(ChargeLog.EMPTY, 0, 0, 0, at, cost);
    }
    int from = firstLive(state, at);
    long forgotten = state.before(from);
    long live = state.total - forgotten;
    // Beyond the limit only overdrafts add: they share one entry, so that a flood needs no memory.
    if (state.newestMillis == at || live > limit) {
      return new State(
          state.log, from, state.to, forgotten, at, forgotten + Range.saturatedSum(live, cost));
    }
    if (state.log.append(state.to, state.newestMillis, state.total)) {
      return new State(state.log, from, state.to + 1, forgotten, at, state.total + cost);
    }
    ChargeLog copy = state.log.copyOf(from, state.to, forgotten, state.newestMillis, live);
    return new State(copy, 0, state.to - from + 1, 0, at, live + cost);
  }

  private static @Nullable State cutTo(State state, int from, long total) {
    if (total == state.total) {
      return state;
    }
    long forgotten = state.before(from);
    if (total <= forgotten) {
      return null;
    }
    if (total > state.before(state.to)) {
      return new State(state.log, from, state.to, forgotten, state.newestMillis, total);
    }
    int newest = state.to - 1;
    while (newest > from && state.before(newest) >= total) {
      newest--;
    }
    return new State(state.log, from, newest, forgotten, state.log.millis(newest), total);
  }

  private Decision admission(@Nullable State state, long at, long left) {
    return Decision.admit(limit, Math.max(0, left), resetAt(state, at));
  }

  private Decision refusal(@Nullable State state, long at, long nowMillis, long cost, long left) {
    long retryAfter =
        state == null || cost > limit
            ? Decision.NEVER
            : Math.max(1, freeFrom(state, at, cost - left) - nowMillis);
    return Decision.refuse(limit, Math.max(0, left), resetAt(state, at), retryAfter);
  }

  /** The ms from which {@code units} of those that count at {@code at} no longer do. */
  private long freeFrom(State state, long at, long units) {
    int first = firstLive(state, at);
    long target = liveBefore(state, at, first) + units;
    int low = first;
    int high = state.to;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (state.log.total(middle) >= target) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    long charged = low == state.to ? state.newestMillis : state.log.millis(low);
    return charged + windowMillis;
  }

  private long resetAt(@Nullable State state, long at) {
    return state == null ? at : Math.max(at, unusedFromMillis(state));
  }
}
