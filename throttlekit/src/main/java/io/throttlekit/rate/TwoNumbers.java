package io.throttlekit.rate;

/**
 * An algorithm whose state is two numbers, so that a store can keep them without an object.
 *
 * @param <S> the state as a value
 */
public sealed interface TwoNumbers<S> extends RateAlgorithm<S>
    permits FixedWindow, Gcra, TokenBucket {

  /** The first number of {@code state}. */
  long first(S state);

  /** The second number of {@code state}. */
  long second(S state);

  /** The state that the numbers of another one make: equal to it. */
  S state(long first, long second);
}
