package io.throttlekit.descriptors.policy;

import org.jspecify.annotations.Nullable;

/** Windows that Envoy's protocol can name. Each is aligned to the epoch. */
public enum LimitUnit {
  /** One second. */
  SECOND(1),
  /** 60 seconds. */
  MINUTE(60),
  /** 60 minutes. */
  HOUR(3_600),
  /** 24 hours. */
  DAY(86_400),
  /** 7 days, from Thursday 00:00 UTC. */
  WEEK(604_800),
  /** 30 days, not a calendar month. */
  MONTH(2_592_000),
  /** 365 days, not a calendar year. */
  YEAR(31_536_000);

  private final long seconds;

  LimitUnit(long seconds) {
    this.seconds = seconds;
  }

  /** Returns the length of the window in ms. */
  public long millis() {
    return seconds * 1_000;
  }

  /** Returns the unit of this length, or null if there is none. */
  public static @Nullable LimitUnit of(long millis) {
    for (LimitUnit unit : values()) {
      if (unit.millis() == millis) {
        return unit;
      }
    }
    return null;
  }
}
