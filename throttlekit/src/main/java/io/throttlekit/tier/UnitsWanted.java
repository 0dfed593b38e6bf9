package io.throttlekit.tier;

/**
 * The units that a cell has begun to lease.
 *
 * @param units to request; 0 for none
 * @param size of a lease that no requests wait for
 * @param usable the units that can probably be used in their window
 * @param windowEndMillis the window, as in {@link LeaseAsk}
 */
record UnitsWanted(long units, long size, long usable, long windowEndMillis) {
  static final UnitsWanted NONE = new UnitsWanted(0, 0, 0, LeaseAsk.CURRENT);

  /** Creates a request for the current window and no more units. */
  static UnitsWanted of(long units) {
    return of(units, LeaseAsk.CURRENT);
  }

  /** Creates a request for a window and no more units. */
  static UnitsWanted of(long units, long windowEndMillis) {
    return new UnitsWanted(units, units, units, windowEndMillis);
  }
}
