package io.throttlekit.rate;

/**
 * An algorithm whose state is two numbers, so that a store can keep it without an object.
 *
 * @param <S> state as a value
 */
public sealed interface TwoNumbers<S> extends RateAlgorithm<S>
    permits FixedWindow, Gcra, TokenBucket {

  /** Returns the first number of {@code state}. */
  long first(S state);

  /** Returns the second number of {@code state}. */
  long second(S state);

  /** Returns the state with these numbers. */
  S state(long first, long second);

  @Override
  default long[] numbers(S state) {
    return new long[] {first(state), second(state)};
  }

  @Override
  default S ofNumbers(long[] numbers) {
    if (numbers.length != 2) {
      throw new IllegalArgumentException(id() + " is kept as 2 numbers, not " + numbers.length);
    }
    return state(numbers[0], numbers[1]);
  }
}
