package io.throttlekit.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A state machine with its possible steps and invariants.
 *
 * @param <S> a state: an immutable value
 */
public interface Model<S> {

  /**
   * One event.
   *
   * @param event what happened, as a trace shows it
   * @param next the state after it
   */
  record Step<S>(String event, S next) {}

  /** Returns the initial states. */
  List<S> initial();

  /** Returns every event that is possible in {@code state}, one step for each outcome. */
  List<Step<S>> steps(S state);

  /** Returns the name of an invariant that {@code state} breaks; null if all hold. */
  @Nullable String broken(S state);

  /**
   * Returns the identity of {@code state}: of states with equal identities the first is explored
   * further. Everything that affects later events and invariants must be in it.
   */
  default Object identity(S state) {
    return state;
  }
}
