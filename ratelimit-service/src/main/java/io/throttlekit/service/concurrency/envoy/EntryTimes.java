package io.throttlekit.service.concurrency.envoy;

import com.google.protobuf.Duration;
import com.google.protobuf.Timestamp;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import java.util.concurrent.TimeUnit;

/** Reads the times of an entry, which may be invalid. */
final class EntryTimes {
  /** A request that takes longer than a day yields no useful sample. */
  private static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(1);

  /** Later times in nanoseconds since 1970 would overflow a {@code long}. */
  private static final long LATEST_SECONDS = 9_000_000_000L;

  // ns per second
  private static final int BILLION = 1_000_000_000;

  private EntryTimes() {}

  /**
   * Returns a duration in ns from 0 to a day, or −1 if it is out of range. An absent duration is 0.
   */
  static long nanos(Duration duration) {
    return nanos(duration.getSeconds(), duration.getNanos(), MAX_SECONDS);
  }

  /**
   * Returns the start of the request in ns since 1970 by the sender's clock, or −1 if absent or
   * invalid.
   */
  static long startNanos(AccessLogCommon common) {
    Timestamp start = common.getStartTime();
    return common.hasStartTime() ? nanos(start.getSeconds(), start.getNanos(), LATEST_SECONDS) : -1;
  }

  private static long nanos(long seconds, int nanos, long mostSeconds) {
    return seconds < 0 || seconds > mostSeconds || nanos < 0 || nanos >= BILLION
        ? -1
        : seconds * BILLION + nanos;
  }
}
