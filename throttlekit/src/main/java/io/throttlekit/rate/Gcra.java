package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * The generic cell rate algorithm: units pass at {@code rate} per window, evenly spaced, and up to
 * {@code burst} of them at once.
 *
 * <p>In any span of {@code t} ms at most {@code burst + rate · t / windowMillis} units are
 * admitted. The state is the theoretical arrival time of ITU-T I.371, kept exactly: as what is
 * owed, in units of 1/windowMillis, at a moment. A clock that steps back finds as much owed as the
 * way back would have paid.
 *
 * @param rate units per window, from 0 (refuse everything)
 * @param windowMillis the period of {@code rate} in ms, from 1
 * @param burst units admitted at once, from 1, or 0 with a rate of 0; {@code burst · windowMillis}
 *     is at most {@link Cost#MAX}
 */
public record Gcra(long rate, long windowMillis, long burst) implements RateAlgorithm<Gcra.State> {

  /**
   * Units times windowMillis owed at {@code atMillis}; every later ms pays {@code rate} of them.
   */
  public record State(long owed, long atMillis) {}

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

  /** A burst as large as the rate. */
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
    long owed = owedAt(state, nowMillis);
    long left = burst * windowMillis - owed;
    if (cost == 0) {
      boolean admitted = overrun == Overrun.COUNT ? left >= 0 : left >= windowMillis && burst > 0;
      return new Transition<>(
          state, admitted ? admission(owed, nowMillis) : refusal(1, owed, nowMillis));
    }
    if (cost <= burst && cost * windowMillis <= left) {
      long next = owed + cost * windowMillis;
      return new Transition<>(new State(next, nowMillis), admission(next, nowMillis));
    }
    Decision refusal = refusal(cost, owed, nowMillis);
    if (overrun == Overrun.REFUSE || rate == 0) {
      return new Transition<>(state, refusal);
    }
    long debt = Range.saturatedSum(owed, Range.saturatedProduct(cost, windowMillis));
    return new Transition<>(
        new State(debt, nowMillis),
        Decision.refuse(burst, 0, resetAt(debt, nowMillis), refusal.retryAfterMillis()));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    long owed = owedAt(state, nowMillis);
    long next = Math.max(0, owed - Range.saturatedProduct(units, windowMillis));
    return new Transition<>(
        next == owed ? state : new State(next, nowMillis), admission(next, nowMillis));
  }

  @Override
  public long unusedFromMillis(State state) {
    return resetAt(state.owed, state.atMillis);
  }

  private long owedAt(@Nullable State state, long nowMillis) {
    if (state == null || rate == 0) {
      return 0;
    }
    long elapsed = nowMillis - state.atMillis;
    if (elapsed < 0) {
      return Range.saturatedSum(state.owed, Range.saturatedProduct(-elapsed, rate));
    }
    return elapsed > state.owed / rate ? 0 : state.owed - elapsed * rate;
  }

  private Decision admission(long owed, long nowMillis) {
    long remaining = Math.max(0, burst * windowMillis - owed) / windowMillis;
    return Decision.admit(burst, remaining, resetAt(owed, nowMillis));
  }

  private Decision refusal(long cost, long owed, long nowMillis) {
    long left = burst * windowMillis - owed;
    long retryAfter =
        cost > burst ? Decision.NEVER : Math.max(1, Math.ceilDiv(cost * windowMillis - left, rate));
    return Decision.refuse(
        burst, Math.max(0, left) / windowMillis, resetAt(owed, nowMillis), retryAfter);
  }

  private long resetAt(long owed, long nowMillis) {
    return owed == 0 ? nowMillis : nowMillis + Math.ceilDiv(owed, rate);
  }
}
