package io.throttlekit.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What can happen from where, and what must hold everywhere.
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

  /** Where it can start. */
  List<S> initial();

  /** Every event that is possible in {@code state}, one step for each way it can turn out. */
  List<Step<S>> steps(S state);

  /** The name of an invariant that {@code state} breaks; null when all hold. */
  @Nullable String broken(S state);

  /**
   * What tells {@code state} from others: of states with equal identities only the first is looked
   * at further. Everything that decides about later events and invariants must be in it.
   */
  default Object identity(S state) {
    return state;
  }
}
