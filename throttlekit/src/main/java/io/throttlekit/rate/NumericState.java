package io.throttlekit.rate;

/**
 * An algorithm whose state is at most three numbers, so that a store can keep it without an object.
 *
 * @param <S> state as a value
 */
public sealed interface NumericState<S> extends RateAlgorithm<S>
    permits FixedWindow, Gcra, TokenBucket {

  /** Returns the first number of {@code state}. */
  long first(S state);

  /** Returns the second number of {@code state}. */
  long second(S state);

  /** Returns the third number of {@code state}; 0 if its state is two numbers. */
  long third(S state);

  /** Returns the state with these numbers. */
  S state(long first, long second, long third);
}
