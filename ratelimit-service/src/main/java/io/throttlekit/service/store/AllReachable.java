package io.throttlekit.service.store;

import java.util.BitSet;
import java.util.function.Consumer;

/** Reports whether all of several backends answer. Thread-safe. */
final class AllReachable {
  private final Consumer<Boolean> all;
  private final BitSet answering = new BitSet();
  private final int backends;

  /**
   * @param all notified at each change of a backend
   * @param backends their number
   */
  AllReachable(Consumer<Boolean> all, int backends) {
    this.all = all;
    this.backends = backends;
  }

  /** Returns what is notified when one backend begins or ceases to answer. */
  Consumer<Boolean> of(int backend) {
    return answers -> set(backend, answers);
  }

  private synchronized void set(int backend, boolean answers) {
    answering.set(backend, answers);
    all.accept(answering.cardinality() == backends);
  }
}
