package io.throttlekit.tier;

/**
 * Units that nobody spent.
 *
 * @param windowEndMillis of the window that they belong to, by the clock that decides windows
 * @param ofNext units of the window after that one
 */
record Leftover(long units, long windowEndMillis, long ofNext) {

  Leftover(long units, long windowEndMillis) {
    this(units, windowEndMillis, 0);
  }
}
