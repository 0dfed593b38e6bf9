package io.throttlekit.lease;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;

/**
 * The result of a charge at a cell.
 *
 * @param cell that was charged
 * @param kind of the result
 * @param decision for {@link Kind#TAKEN} and {@link Kind#REFUSED}
 * @param windowEndMillis the window that units were taken from, by the clock that decides windows
 * @param ofNextToo whether the same units were taken from the next window, too, because either
 *     window may be current
 */
public record AcquireResult(
    LeaseCell cell,
    Kind kind,
    @Nullable Decision decision,
    long windowEndMillis,
    boolean ofNextToo) {

  AcquireResult(LeaseCell cell, Kind kind) {
    this(cell, kind, null, 0, false);
  }

  /** Returns the result of a cell that has too few units. */
  public static AcquireResult lacking(LeaseCell cell) {
    return new AcquireResult(cell, Kind.SHORT);
  }

  /** The kinds of results. */
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
