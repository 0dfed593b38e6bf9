package io.throttlekit.tier;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;

/**
 * What a cell said to a charge.
 *
 * @param kind what became of it
 * @param decision the answer of {@link Kind#TAKEN} and {@link Kind#REFUSED}
 * @param windowEndMillis of what was taken, by the store's clock
 */
record Take(Kind kind, @Nullable Decision decision, long windowEndMillis) {
  static final Take SHORT = new Take(Kind.SHORT, null, 0);
  static final Take STRICT = new Take(Kind.STRICT, null, 0);
  static final Take RETIRED = new Take(Kind.RETIRED, null, 0);

  enum Kind {
    /** Spent from what is leased. */
    TAKEN,
    /** The store has nothing left for so large a cost. */
    REFUSED,
    /** A lease is needed. */
    SHORT,
    /** The window ends too soon for a lease: the store has to decide. */
    STRICT,
    /** The cell has left the cache. */
    RETIRED
  }
}
