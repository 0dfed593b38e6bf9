package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * A bucket of {@code capacity} tokens, initially full. It refills evenly with {@code refill} tokens
 * per window, and each unit charged takes one.
 *
 * <p>In any span of {@code t} ms at most {@code capacity + refill · t / windowMillis} units are
 * admitted. Tokens are kept exactly, in units of 1/windowMillis; a debt is kept up to {@link
 * Cost#MAX}. While the clock is behind the newest time seen, nothing is refilled. A raised refill
 * applies at once, also to the time since the last charge; a lowered refill applies from the next
 * charge on, and the time before it refills at the former rate.
 *
 * @param refill tokens per window, from 0 (refuse everything)
 * @param windowMillis period of {@code refill} in ms, from 1
 * @param capacity tokens of a full bucket, from 1, or 0 with a refill of 0; {@code capacity ·
 *     windowMillis} is at most {@link Cost#MAX}
 */
public record TokenBucket(long refill, long windowMillis, long capacity)
    implements NumericState<TokenBucket.State> {

  /**
   * Tokens times windowMillis at {@code atMillis}, below 0 after an overdraft; each later ms adds
   * {@code refill}.
   */
  public record State(long level, long atMillis, long refill) {}

  /** Checks the ranges. */
  public TokenBucket {
    Range.checkLimit(refill);
    Range.checkWindow(windowMillis);
    Range.checkLimit(capacity);
    if ((refill == 0) != (capacity == 0)) {
      throw new IllegalArgumentException("capacity and refill must both be 0 or both be above 0");
    }
    Range.checkProduct("capacity", capacity, windowMillis);
  }

  /** Creates an algorithm whose capacity equals its refill. */
  public TokenBucket(long refill, long windowMillis) {
    this(refill, windowMillis, refill);
  }

  @Override
  public long limit() {
    return capacity;
  }

  @Override
  public String id() {
    return "token_bucket";
  }

  @Override
  public Transition<State> charge(
      @Nullable State state, long nowMillis, long cost, Overrun overrun) {
    long at = state == null ? nowMillis : Math.max(nowMillis, state.atMillis);
    long pace = paceOf(state);
    long level = levelAt(state, pace, at);
    long needed = Range.needed(cost, overrun);
    // Compared with the capacity first: the product could overflow.
    if (needed <= capacity && needed * windowMillis <= level) {
      long next = level - cost * windowMillis;
      return new Transition<>(
          cost == 0 ? state : new State(next, at, refill),
          admission(next, cost == 0 ? pace : refill, at, nowMillis));
    }
    // Without a refill, a debt would never be repaid.
    long debt = refill == 0 ? 0 : Range.debt(cost, overrun);
    long next = Math.max(-Cost.MAX, level - Range.saturatedProduct(debt, windowMillis));
    long nextPace = debt == 0 ? pace : refill;
    return new Transition<>(
        debt == 0 ? state : new State(next, at, refill),
        Decision.refuse(
            capacity,
            remaining(level) - debt,
            resetAt(next, nextPace, at) - nowMillis,
            retryAfter(needed, next, nextPace, at, nowMillis)));
  }

  @Override
  public Transition<State> refund(@Nullable State state, long nowMillis, long units) {
    long at = state == null ? nowMillis : Math.max(nowMillis, state.atMillis);
    long pace = paceOf(state);
    long level = levelAt(state, pace, at);
    long next = Math.min(full(), level + Range.saturatedProduct(units, windowMillis));
    return new Transition<>(
        next == level ? state : new State(next, at, refill),
        admission(next, next == level ? pace : refill, at, nowMillis));
  }

  @Override
  public int stateSize() {
    return 3;
  }

  @Override
  public long first(State state) {
    return state.level;
  }

  @Override
  public long second(State state) {
    return state.atMillis;
  }

  @Override
  public long third(State state) {
    return state.refill;
  }

  @Override
  public State state(long level, long atMillis, long refill) {
    return new State(level, atMillis, refill);
  }

  @Override
  public long unusedFromMillis(State state) {
    return resetAt(state.level, state.refill, state.atMillis);
  }

  private long full() {
    return capacity * windowMillis;
  }

  /** Returns what each ms since the state adds: a raised refill applies at once. */
  private long paceOf(@Nullable State state) {
    return state == null ? refill : Math.max(refill, state.refill);
  }

  private long levelAt(@Nullable State state, long pace, long at) {
    if (state == null || refill == 0) {
      return full();
    }
    long elapsed = at - state.atMillis;
    long missing = full() - state.level;
    // Divided first: elapsed * pace can overflow.
    return missing <= 0 || elapsed > missing / pace ? full() : state.level + elapsed * pace;
  }

  private long retryAfter(long needed, long level, long pace, long at, long nowMillis) {
    return needed > capacity
        ? Decision.NEVER
        : at - nowMillis + Math.ceilDiv(needed * windowMillis - level, pace);
  }

  private Decision admission(long level, long pace, long at, long nowMillis) {
    return Decision.admit(capacity, remaining(level), resetAt(level, pace, at) - nowMillis);
  }

  private long remaining(long level) {
    return Math.max(0, level) / windowMillis;
  }

  private long resetAt(long level, long pace, long at) {
    return level >= full() || pace == 0 ? at : at + Math.ceilDiv(full() - level, pace);
  }
}
