package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * Admits at most {@code limit} units in every window aligned to the epoch.
 *
 * <p>Up to {@code 2 · limit} units may pass within any span of one window that straddles a
 * boundary; {@link SlidingWindow} does not allow that. The state is two numbers. Time that runs
 * backwards stays in the newest window seen.
 *
 * @param limit units per window, from 0 (refuse everything) to {@link Cost#MAX}
 * @param windowMillis length of a window in ms, from 1
 */
public record FixedWindow(long limit, long windowMillis)
    implements NumericState<FixedWindow.State> {

  /** Units charged so far in the window that began at {@code startMillis}. */
  public record State(long startMillis, long used) {}

  /** Checks the ranges. */
  public FixedWindow {
    Range.checkLimit(limit);
    Range.checkWindow(windowMillis);
  }

  /** Returns the end of the window at {@code nowMillis}, which names it. */
  public long endMillis(long nowMillis) {
    return nowMillis - Math.floorMod(nowMillis, windowMillis) + windowMillis;
  }

  @Override
  public String id() {
    return "fixed_window";
  }

  @Override
  public Transition<State> charge(
      @Nullable State state, long nowMillis, long cost, Overrun overrun) {
    long start = windowStart(state, nowMillis);
    long used = usedIn(state, start);
    long untilEnd = start + windowMillis - nowMillis;
    long left = limit - used;
    long needed = Range.needed(cost, overrun);
    if (needed <= left) { // not used + needed: the sum can overflow
      State next = cost == 0 ? state : new State(start, used + cost);
      return new Transition<>(next, Decision.admit(limit, left - cost, untilEnd));
    }
    long retryAfter = needed > limit ? Decision.NEVER : untilEnd;
    long debt = Range.debt(cost, overrun);
    State next = debt == 0 ? state : new State(start, Range.saturatedSum(used, debt));
    return new Transition<>(
        next, Decision.refuse(limit, Math.max(0, left) - debt, untilEnd, retryAfter));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    long start = windowStart(state, nowMillis);
    long used = usedIn(state, start);
    long kept = Math.max(0, used - units);
    State next = kept == used ? state : new State(start, kept);
    return new Transition<>(
        next, Decision.admit(limit, Math.max(0, limit - kept), start + windowMillis - nowMillis));
  }

  @Override
  public int stateSize() {
    return 2;
  }

  @Override
  public long first(State state) {
    return state.startMillis;
  }

  @Override
  public long second(State state) {
    return state.used;
  }

  @Override
  public long third(State state) {
    return 0;
  }

  @Override
  public State state(long startMillis, long used, long unused) {
    return new State(startMillis, used);
  }

  @Override
  public long unusedFromMillis(State state) {
    return state.used == 0 ? state.startMillis : state.startMillis + windowMillis;
  }

  private long windowStart(@Nullable State state, long nowMillis) {
    if (state != null && nowMillis - state.startMillis < windowMillis) {
      return state.startMillis; // same window or an earlier time; avoids a division
    }
    return nowMillis - Math.floorMod(nowMillis, windowMillis);
  }

  private static long usedIn(@Nullable State state, long start) {
    return state != null && state.startMillis == start ? state.used : 0;
  }
}
