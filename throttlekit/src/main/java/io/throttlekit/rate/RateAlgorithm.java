package io.throttlekit.rate;

import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/**
 * A rate limit as a pure function of (state, now, cost). Every implementation is immutable, and so
 * is every state, so a store may apply a transition any number of times and keep one result.
 *
 * <p>Time that runs backwards is treated as the newest time that the state has seen: a clock step
 * can refuse early, never admit twice.
 *
 * @param <S> what one counter of this algorithm remembers; {@code null} stands for an unused
 *     counter
 */
public sealed interface RateAlgorithm<S> permits TwoNumbers, SlidingWindow, SlidingLog {

  /** Units that the counter admits at most: per window, or as one burst. */
  long limit();

  /** Length of the window in ms, or of the period in which {@link #limit()} or the rate refills. */
  long windowMillis();

  /** The name in policies and in counter keys: {@code fixed_window}, {@code gcra} … */
  String id();

  /**
   * Counts {@code cost} against the counter.
   *
   * @param nowMillis wall-clock ms since the epoch
   * @param cost 1 to {@link io.throttlekit.Cost#MAX}, or 0 to look without consuming
   * @param overrun what becomes of a cost beyond what is left
   */
  Transition<S> charge(@Nullable S state, long nowMillis, long cost, Overrun overrun);

  /**
   * Gives {@code units} back, at most as many as are counted. The decision is always admitted.
   *
   * @param units 1 to {@link io.throttlekit.Cost#MAX}
   */
  Transition<S> refund(@Nullable S state, long nowMillis, long units);

  /** The wall-clock ms from which {@code state} decides exactly like an unused counter. */
  long unusedFromMillis(S state);

  /**
   * What {@code state} is made of, for stores that keep it outside of this process: pairs of
   * numbers, each in an order and with a meaning that never change.
   */
  long[] numbers(S state);

  /**
   * A state that decides like the one that gave {@code numbers}.
   *
   * @throws IllegalArgumentException when no state of this algorithm gives such numbers
   */
  S ofNumbers(long[] numbers);
}
