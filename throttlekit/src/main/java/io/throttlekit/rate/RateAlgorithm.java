package io.throttlekit.rate;

import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * A rate limit as a pure function of (state, now, cost). Implementations and states are immutable,
 * so a store may apply a transition any number of times and keep one result.
 *
 * <p>Time that runs backwards is treated as the newest time that the state has seen: a clock step
 * can refuse early, never admit twice.
 *
 * @param <S> state of one counter; {@code null} stands for an unused counter
 */
public sealed interface RateAlgorithm<S> permits NumericState, SlidingWindow, SlidingLog {

  /** Returns the most units that the counter admits: per window, or as one burst. */
  long limit();

  /**
   * Returns the length in ms of the window, or of the period in which {@link #limit()} or the rate
   * refills.
   */
  long windowMillis();

  /** Returns the name in policies and in counter keys: {@code fixed_window}, {@code gcra} … */
  String id();

  /**
   * Charges {@code cost} to the counter.
   *
   * @param nowMillis wall-clock ms since the epoch
   * @param cost 1 to {@link io.throttlekit.Cost#MAX}, or 0 to peek without consuming
   * @param overrun treatment of a cost that exceeds the remaining units
   */
  Transition<S> charge(@Nullable S state, long nowMillis, long cost, Overrun overrun);

  /**
   * Refunds {@code units}, at most as many as are counted. The decision is always admitted.
   *
   * @param units 1 to {@link io.throttlekit.Cost#MAX}
   */
  Transition<S> refund(@Nullable S state, long nowMillis, long units);

  /** Returns the wall-clock ms from which {@code state} decides exactly like an unused counter. */
  long unusedFromMillis(S state);

  /**
   * Returns the numbers of {@code state}, for stores that keep it outside of this process. Their
   * order and meaning never change.
   */
  long[] numbers(S state);

  /**
   * Returns a state that decides like the one with these {@code numbers}.
   *
   * @throws IllegalArgumentException when no state of this algorithm has such numbers
   */
  S ofNumbers(long[] numbers);
}
