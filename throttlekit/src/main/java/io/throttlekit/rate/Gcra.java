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
 * steps back, the debt is larger by the amount that the lost time would have repaid. A changed rate
 * applies from the next charge on: the time before it repays at the rate of the charge before it.
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
    long owed = owedAt(state, at);
    long needed = Range.needed(cost, overrun);
    if (retryAfter(needed, owed, at, nowMillis) <= 0) {
      long next = owed + cost * windowMillis;
      return new Transition<>(
          cost == 0 ? state : new State(next, at, rate),
          Decision.admit(
              burst, remaining(next, at - nowMillis), resetAt(next, at, rate) - nowMillis));
    }
    // Without a rate, a debt would never be repaid.
    long debt = rate == 0 ? 0 : Range.debt(cost, overrun);
    long next = Range.saturatedSum(owed, Range.saturatedProduct(debt, windowMillis));
    return new Transition<>(
        debt == 0 ? state : new State(next, at, rate),
        Decision.refuse(
            burst,
            remaining(owed, at - nowMillis) - debt,
            resetAt(next, at, rate) - nowMillis,
            retryAfter(needed, next, at, nowMillis)));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    long at = state == null ? nowMillis : Math.max(nowMillis, state.atMillis);
    long owed = owedAt(state, at);
    long next = Math.max(0, owed - Range.saturatedProduct(units, windowMillis));
    return new Transition<>(
        next == owed ? state : new State(next, at, rate),
        Decision.admit(
            burst, remaining(next, at - nowMillis), resetAt(next, at, rate) - nowMillis));
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
  public long[] numbers(State state) {
    return new long[] {state.owed, state.atMillis, state.rate};
  }

  @Override
  public State ofNumbers(long[] numbers) {
    Range.checkNumbers(this, 3, numbers);
    return new State(numbers[0], numbers[1], numbers[2]);
  }

  @Override
  public long unusedFromMillis(State state) {
    return resetAt(state.owed, state.atMillis, state.rate);
  }

  /** Returns the debt at {@code at}, which is not before the state. */
  private long owedAt(@Nullable State state, long at) {
    if (state == null || rate == 0 || state.rate == 0) {
      return 0;
    }
    long elapsed = at - state.atMillis;
    // Divided first: elapsed * rate can overflow.
    return elapsed > state.owed / state.rate ? 0 : state.owed - elapsed * state.rate;
  }

  private long retryAfter(long needed, long owed, long at, long nowMillis) {
    return needed > burst ? Decision.NEVER : fitsFrom(needed, owed, at) - nowMillis;
  }

  /**
   * Returns the ms from which {@code units}, at most the burst, fit. It may be before {@code at}.
   */
  private long fitsFrom(long units, long owed, long at) {
    if (rate == 0) {
      return at;
    }
    return at + Math.ceilDiv(owed + units * windowMillis - burst * windowMillis, rate);
  }

  private long remaining(long owed, long millisBehind) {
    long left = burst * windowMillis - owed - Range.saturatedProduct(millisBehind, rate);
    return Math.max(0, left) / windowMillis;
  }

  private static long resetAt(long owed, long at, long rate) {
    return owed == 0 || rate == 0 ? at : at + Math.ceilDiv(owed, rate);
  }
}
