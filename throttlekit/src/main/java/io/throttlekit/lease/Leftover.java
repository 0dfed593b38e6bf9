package io.throttlekit.lease;

/**
 * Unspent units.
 *
 * @param windowEndMillis end of their window, by the clock that decides windows
 * @param ofNext units of the window after that one
 */
public record Leftover(long units, long windowEndMillis, long ofNext) {
  static final Leftover NONE = new Leftover(0, 0, 0);

  Leftover(long units, long windowEndMillis) {
    this(units, windowEndMillis, 0);
  }
}
