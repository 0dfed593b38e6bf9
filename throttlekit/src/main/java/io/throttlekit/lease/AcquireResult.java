package io.throttlekit.lease;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;

/**
 * The result of a charge at a cell.
 *
 * @param kind of the result
 * @param decision for {@link Kind#TAKEN} and {@link Kind#REFUSED}
 * @param windowEndMillis the window that units were taken from, by the clock that decides windows
 * @param ofNextToo whether the same units were taken from the next window, too, because either
 *     window may be current
 */
public record AcquireResult(
    Kind kind, @Nullable Decision decision, long windowEndMillis, boolean ofNextToo) {
  public static final AcquireResult SHORT = new AcquireResult(Kind.SHORT, null, 0);
  static final AcquireResult STRICT = new AcquireResult(Kind.STRICT, null, 0);
  static final AcquireResult RETIRED = new AcquireResult(Kind.RETIRED, null, 0);

  AcquireResult(Kind kind, @Nullable Decision decision, long windowEndMillis) {
    this(kind, decision, windowEndMillis, false);
  }

  public enum Kind {
    /** Spent from what is leased. */
    TAKEN,
    /** The store has too little left for this cost. */
    REFUSED,
    /** A lease is needed. */
    SHORT,
    /** The window ends too soon for a lease; the store decides. */
    STRICT,
    /** The cell was removed from the cache. */
    RETIRED
  }
}
