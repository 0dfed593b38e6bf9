package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * The generic cell rate algorithm: admits {@code rate} units per window, evenly spaced, and up to
 * {@code burst} of them at once.
 *
 * <p>In any span of {@code t} ms at most {@code burst + rate · t / windowMillis} units are
 * admitted. The state is the theoretical arrival time of ITU-T I.371, kept exactly: as a debt, in
 * units of 1/windowMillis (up to {@link Cost#MAX}), at a time that never moves back. When the clock
 * steps back, the debt is larger by the amount that the lost time would have repaid. A raised rate
 * applies at once, also to the time since the last charge; a lowered rate applies from the next
 * charge on, and the time before it repays at the former rate.
 *
 * @param rate units per window, from 0 (refuse everything)
 * @param windowMillis period of {@code rate} in ms, from 1
 * @param burst units admitted at once, from 1, or 0 with a rate of 0; {@code burst · windowMillis}
 *     is at most {@link Cost#MAX}
 */
public record Gcra(long rate, long windowMillis, long burst) implements NumericState<Gcra.State> {

  /**
   * The debt at {@code atMillis} in units times windowMillis; each later ms repays {@code rate}.
   */
  public record State(long owed, long atMillis, long rate) {}

  /** Checks the ranges. */
  public Gcra {
    Range.checkLimit(rate);
    Range.checkWindow(windowMillis);
    Range.checkLimit(burst);
    if ((rate == 0) != (burst == 0)) {
      throw new IllegalArgumentException("burst and rate must both be 0 or both be above 0");
    }
    Range.checkProduct("burst", burst, windowMillis);
  }

  /** Creates an algorithm whose burst equals its rate. */
  public Gcra(long rate, long windowMillis) {
    this(rate, windowMillis, rate);
  }

  @Override
  public long limit() {
    return burst;
  }

  @Override
  public String id() {
    return "gcra";
  }

  @Override
  public Transition<State> charge(
      @Nullable State state, long nowMillis, long cost, Overrun overrun) {
    long at = state == null ? nowMillis : Math.max(nowMillis, state.atMillis);
    long pace = paceOf(state);
    long owed = owedAt(state, pace, at);
    long needed = Range.needed(cost, overrun);
    if (retryAfter(needed, owed, pace, at, nowMillis) <= 0) {
      long next = owed + cost * windowMillis;
      return new Transition<>(
          cost == 0 ? state : new State(next, at, rate),
          admission(next, cost == 0 ? pace : rate, at, nowMillis));
    }
    // Without a rate, a debt would never be repaid.
    long debt = rate == 0 ? 0 : Range.debt(cost, overrun);
    long next = Range.saturatedSum(owed, Range.saturatedProduct(debt, windowMillis));
    long nextPace = debt == 0 ? pace : rate;
    return new Transition<>(
        debt == 0 ? state : new State(next, at, rate),
        Decision.refuse(
            burst,
            remaining(owed, at - nowMillis) - debt,
            resetAt(next, nextPace, at) - nowMillis,
            retryAfter(needed, next, nextPace, at, nowMillis)));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    long at = state == null ? nowMillis : Math.max(nowMillis, state.atMillis);
    long pace = paceOf(state);
    long owed = owedAt(state, pace, at);
    long next = Math.max(0, owed - Range.saturatedProduct(units, windowMillis));
    return new Transition<>(
        next == owed ? state : new State(next, at, rate),
        admission(next, next == owed ? pace : rate, at, nowMillis));
  }

  @Override
  public int stateSize() {
    return 3;
  }

  @Override
  public long first(State state) {
    return state.owed;
  }

  @Override
  public long second(State state) {
    return state.atMillis;
  }

  @Override
  public long third(State state) {
    return state.rate;
  }

  @Override
  public State state(long owed, long atMillis, long rate) {
    return new State(owed, atMillis, rate);
  }

  @Override
  public long unusedFromMillis(State state) {
    return resetAt(state.owed, state.rate, state.atMillis);
  }

  /** Returns what each ms since the state repays: a raised rate applies at once. */
  private long paceOf(@Nullable State state) {
    return state == null ? rate : Math.max(rate, state.rate);
  }

  /** Returns the debt at {@code at}, which is not before the state. */
  private long owedAt(@Nullable State state, long pace, long at) {
    if (state == null || rate == 0) {
      return 0;
    }
    long elapsed = at - state.atMillis;
    // Divided first: elapsed * pace can overflow.
    return elapsed > state.owed / pace ? 0 : state.owed - elapsed * pace;
  }

  private Decision admission(long owed, long pace, long at, long nowMillis) {
    return Decision.admit(
        burst, remaining(owed, at - nowMillis), resetAt(owed, pace, at) - nowMillis);
  }

  private long retryAfter(long needed, long owed, long pace, long at, long nowMillis) {
    return needed > burst ? Decision.NEVER : fitsFrom(needed, owed, pace, at) - nowMillis;
  }

  /**
   * Returns the ms from which {@code units}, at most the burst, fit. It may be before {@code at}.
   */
  private long fitsFrom(long units, long owed, long pace, long at) {
    if (rate == 0) {
      return at;
    }
    return at + Math.ceilDiv(owed + units * windowMillis - burst * windowMillis, pace);
  }

  private long remaining(long owed, long millisBehind) {
    long left = burst * windowMillis - owed - Range.saturatedProduct(millisBehind, rate);
    return Math.max(0, left) / windowMillis;
  }

  private static long resetAt(long owed, long pace, long at) {
    return owed == 0 || pace == 0 ? at : at + Math.ceilDiv(owed, pace);
  }
}
