package io.throttlekit.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The real thing, driven one event at a time. It must answer the same events in the same way, each
 * time it is made anew: no other clock, thread or random number than the events bring.
 *
 * @param <E> an event: an immutable value whose text names it in a trace
 */
public interface Subject<E> {

  /** The events that are possible now. */
  List<E> enabled();

  /** Lets one of them happen. */
  void apply(E event);

  /**
   * All that tells this moment from others, as a value: two subjects with equal snapshots must
   * answer all later events alike.
   */
  Object snapshot();

  /** The name of an invariant that is broken now; null when all hold. */
  @Nullable String broken();
}
