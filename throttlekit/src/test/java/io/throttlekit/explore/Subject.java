package io.throttlekit.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A real object, driven one event at a time. It must answer the same events in the same way, each
 * time it is made anew: no other clock, thread or random number than the events bring.
 *
 * @param <E> an event: an immutable value whose text names it in a trace
 */
public interface Subject<E> {

  /** Returns the events that are possible now. */
  List<E> enabled();

  /** Applies one of them. */
  void apply(E event);

  /**
   * Returns the identity of this moment, as a value: two subjects with equal snapshots must answer
   * all later events alike.
   */
  Object snapshot();

  /** Returns the name of an invariant that is broken now; null if all hold. */
  @Nullable String broken();
}
