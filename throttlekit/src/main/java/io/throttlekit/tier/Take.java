package io.throttlekit.tier;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;

/**
 * What a cell said to a charge.
 *
 * @param kind what became of it
 * @param decision the answer of {@link Kind#TAKEN} and {@link Kind#REFUSED}
 * @param windowEndMillis of what was taken, by the clock that decides windows
 * @param ofNextToo whether as much was taken of the window after that one, because nobody could say
 *     which of the two lasts
 */
record Take(Kind kind, @Nullable Decision decision, long windowEndMillis, boolean ofNextToo) {
  static final Take SHORT = new Take(Kind.SHORT, null, 0);
  static final Take STRICT = new Take(Kind.STRICT, null, 0);
  static final Take RETIRED = new Take(Kind.RETIRED, null, 0);

  Take(Kind kind, @Nullable Decision decision, long windowEndMillis) {
    this(kind, decision, windowEndMillis, false);
  }

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
