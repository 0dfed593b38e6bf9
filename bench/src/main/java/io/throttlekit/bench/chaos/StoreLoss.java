package io.throttlekit.bench.chaos;

/**
 * A loss of data of a region's store: counts that were made before its end may be forgotten.
 *
 * @param fromMillis when its server was about to be killed, by the clock of this host
 * @param toMillis when it had ended
 */
record StoreLoss(int region, long fromMillis, long toMillis) {

  /** Whether the window that ends then had begun before the loss was over, and was not over yet. */
  boolean isIn(long windowEndMillis, long windowMillis) {
    return fromMillis < windowEndMillis && toMillis >= windowEndMillis - windowMillis;
  }
}
