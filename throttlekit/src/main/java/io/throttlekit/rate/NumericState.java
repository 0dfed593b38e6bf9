package io.throttlekit.rate;

import java.util.Arrays;

/**
 * An algorithm whose state is at most three numbers, so that a store can keep it without an object.
 *
 * @param <S> state as a value
 */
public sealed interface NumericState<S> extends RateAlgorithm<S>
    permits FixedWindow, Gcra, TokenBucket {

  /** Returns the number of numbers in a state: 2 or 3. */
  int stateSize();

  /** Returns the first number of {@code state}. */
  long first(S state);

  /** Returns the second number of {@code state}. */
  long second(S state);

  /** Returns the third number of {@code state}; 0 if its state is two numbers. */
  long third(S state);

  /** Returns the state with these numbers. */
  S state(long first, long second, long third);

  @Override
  default long[] numbers(S state) {
    return Arrays.copyOf(new long[] {first(state), second(state), third(state)}, stateSize());
  }

  @Override
  default S ofNumbers(long[] numbers) {
    if (numbers.length != stateSize()) {
      throw new IllegalArgumentException(
          id() + " is kept as " + stateSize() + " numbers, not " + numbers.length);
    }
    return state(numbers[0], numbers[1], numbers.length > 2 ? numbers[2] : 0);
  }
}
