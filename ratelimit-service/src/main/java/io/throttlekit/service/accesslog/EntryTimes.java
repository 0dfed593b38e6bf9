package io.throttlekit.service.accesslog;

import com.google.protobuf.Duration;
import com.google.protobuf.Timestamp;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import java.util.concurrent.TimeUnit;

/** Reads the times of an entry, which may be anything. */
final class EntryTimes {
  /** Nothing good is to be learned from a request that takes longer. */
  private static final long LONGEST_SECONDS = TimeUnit.DAYS.toSeconds(1);

  /** Beyond it, nanoseconds since 1970 are no {@code long}. */
  private static final long LATEST_SECONDS = 9_000_000_000L;

  private static final int BILLION = 1_000_000_000;

  private EntryTimes() {}

  /** From 0 up to a day; −1 when it is not between these. An absent duration is 0. */
  static long nanos(Duration duration) {
    return nanos(duration.getSeconds(), duration.getNanos(), LONGEST_SECONDS);
  }

  /** When the request began by the clock of who wrote the entry, since 1970; −1 for nonsense. */
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
