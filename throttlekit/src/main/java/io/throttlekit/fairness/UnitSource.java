package io.throttlekit.fairness;

/**
 * Where a pool has its units from. A pool of one process has the whole limit; others lease theirs
 * from a store or share them with other regions.
 *
 * <p>Called under the pool's lock, so an implementation must not block: one that must wait returns
 * what it has, requests more in the background, and returns that at a later call.
 */
@FunctionalInterface
public interface UnitSource {

  /**
   * Returns all units that the pool may admit in a window, those already returned included. It
   * never falls within a window. What exceeds the limit is ignored.
   *
   * @param windowEndMillis the window, named by its end
   * @param weight of the active tenants, in sum
   * @param wantedUnits so many in all would admit the next request; 0 when a window begins
   */
  long granted(long windowEndMillis, long weight, long wantedUnits);

  /** Returns the source of a pool that has the whole limit for itself. */
  static UnitSource ofOneProcess() {
    return (_, _, _) -> Long.MAX_VALUE;
  }
}
