package io.throttlekit.rate;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import org.jspecify.annotations.Nullable;

/** One counter and its current state. */
final class History<S> {
  private final RateAlgorithm<S> algorithm;
  private @Nullable S state;

  History(RateAlgorithm<S> algorithm) {
    this.algorithm = algorithm;
  }

  Decision charge(long atMillis, long cost) {
    return charge(atMillis, cost, Overrun.REFUSE);
  }

  Decision charge(long atMillis, long cost, Overrun overrun) {
    return keep(algorithm.charge(state, atMillis, cost, overrun));
  }

  Decision peek(long atMillis) {
    return charge(atMillis, 0);
  }

  Decision refund(long atMillis, long units) {
    return keep(algorithm.refund(state, atMillis, units));
  }

  /** Returns an independent copy of the counter. */
  History<S> branch() {
    History<S> branch = new History<>(algorithm);
    branch.state = state;
    return branch;
  }

  @Nullable S state() {
    return state;
  }

  RateAlgorithm<S> algorithm() {
    return algorithm;
  }

  /** Returns whether from {@code atMillis} on this counter decides like an unused one. */
  boolean unusedAt(long atMillis) {
    return state == null || atMillis >= algorithm.unusedFromMillis(state);
  }

  private Decision keep(Transition<S> transition) {
    state = transition.state();
    return transition.decision();
  }
}
