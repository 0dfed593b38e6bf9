package io.throttlekit.bench.chaos.fleet;

/**
 * A loss of data of a region's store: counts made before its end may be lost.
 *
 * @param fromMillis when its server was about to be killed, by the clock of this host
 * @param toMillis when it had ended
 */
public record StoreLoss(int region, long fromMillis, long toMillis) {

  /**
   * Returns whether a window overlaps the loss: it had begun before the loss was over, and had not
   * ended at its start.
   */
  public boolean isIn(long windowEndMillis, long windowMillis) {
    return fromMillis < windowEndMillis && toMillis >= windowEndMillis - windowMillis;
  }
}
