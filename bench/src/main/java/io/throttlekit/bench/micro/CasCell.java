package io.throttlekit.bench.micro;

import io.throttlekit.Decision;
import io.throttlekit.Overrun;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.Transition;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Smallest counter for an algorithm: its state behind a compare-and-set.
 *
 * @param <S> the algorithm's state
 */
final class CasCell<S> extends AtomicReference<@Nullable S> {
  private static final long serialVersionUID = 1L;

  private final transient RateAlgorithm<S> algorithm;

  CasCell(RateAlgorithm<S> algorithm) {
    this.algorithm = algorithm;
  }

  @SuppressWarnings("ReferenceEquality") // an unchanged state is returned as the same object
  Decision charge(long nowMillis, long cost) {
    while (true) {
      S seen = get();
      Transition<S> next = algorithm.charge(seen, nowMillis, cost, Overrun.REFUSE);
      if (next.state() == seen || compareAndSet(seen, next.state())) {
        return next.decision();
      }
    }
  }
}
