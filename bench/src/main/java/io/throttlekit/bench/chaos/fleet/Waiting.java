package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.TimeSource;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits on the clock of this host. */
public final class Waiting {
  /** Timeout for what takes a second, on a machine that others keep busy. */
  public static final Duration LONG = Duration.ofMinutes(1);

  private static final long POLL_NANOS = 20_000_000;

  private Waiting() {}

  /**
   * Waits for a condition.
   *
   * @param condition counts as false while it cannot be read
   * @return whether it held in time
   */
  public static boolean until(BooleanSupplier condition, Duration longest) {
    TimeSource time = TimeSource.system();
    long end = time.monotonicNanos() + longest.toNanos();
    while (!holds(condition)) {
      if (time.monotonicNanos() - end >= 0) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }

  /** Waits for a time of the monotonic clock. */
  public static void untilNanos(long nanos) throws InterruptedException {
    long left = nanos - TimeSource.system().monotonicNanos();
    if (left > 0) {
      TimeUnit.NANOSECONDS.sleep(left);
    }
  }

  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (UncheckedIOException _) {
      return false; // the server has not started or has ended
    }
  }
}
