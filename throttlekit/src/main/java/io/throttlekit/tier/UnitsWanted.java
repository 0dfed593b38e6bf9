package io.throttlekit.tier;

/**
 * What a cell has begun to lease.
 *
 * @param units to ask for; 0 when nothing is to be asked for
 * @param size of a lease that no requests wait for
 * @param usable how many there is use for in their window, as far as it can tell
 * @param windowEndMillis names their window, as {@link LeaseAsk} does
 */
record UnitsWanted(long units, long size, long usable, long windowEndMillis) {
  static final UnitsWanted NONE = new UnitsWanted(0, 0, 0, LeaseAsk.CURRENT);

  /** Of the window that lasts, no more than are asked for. */
  static UnitsWanted of(long units) {
    return of(units, LeaseAsk.CURRENT);
  }

  /** Of a window, no more than are asked for. */
  static UnitsWanted of(long units, long windowEndMillis) {
    return new UnitsWanted(units, units, units, windowEndMillis);
  }
}
