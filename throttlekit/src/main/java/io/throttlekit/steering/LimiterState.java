package io.throttlekit.steering;

import org.jspecify.annotations.Nullable;

/**
 * What must be kept of a limiter's share so that another {@link LimitShares} can continue with it.
 *
 * @param granted last grant, from 0; −1 before the first one
 * @param number round of the last grant; 0 before the first one
 * @param acknowledged whether the last grant is acknowledged
 * @param acknowledgedShare last acknowledged grant; 0 for none
 * @param reserved the most that the limiter may apply by its grants, at least all others
 * @param demand of its id, from 0 to 2^31
 * @param active whether its id had demand recently
 */
public record LimiterState(
    int granted,
    long number,
    boolean acknowledged,
    int acknowledgedShare,
    int reserved,
    long demand,
    boolean active) {
  private static final long MAX_DEMAND = 1L << 31;

  /**
   * @throws IllegalArgumentException when a value is out of range
   */
  public LimiterState {
    boolean isNew = granted == -1;
    if (granted < -1
        || number < 0
        || isNew != (number == 0)
        || (isNew && acknowledged)
        || granted > reserved
        || acknowledgedShare < 0
        || acknowledgedShare > reserved
        || demand < 0
        || demand > MAX_DEMAND) {
      throw new IllegalArgumentException("a share has a value out of range");
    }
  }

  /** Returns whether another state differs in nothing but demand. */
  public boolean hasShareOf(@Nullable LimiterState other) {
    return other != null
        && granted == other.granted
        && number == other.number
        && acknowledged == other.acknowledged
        && acknowledgedShare == other.acknowledgedShare
        && reserved == other.reserved;
  }
}
