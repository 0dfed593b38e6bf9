package io.throttlekit.service.server;

import io.throttlekit.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs calls that went wrong, of each kind at most once in {@link #INTERVAL}, so that clients
 * cannot fill the log: calls that Envoy gave up on, which it counts where few look and by default
 * lets pass, and calls that failed by a fault of this program. Thread-safe.
 */
final class CallWarnings {
  private static final Logger LOG = LoggerFactory.getLogger(CallWarnings.class);
  static final Duration INTERVAL = Duration.ofSeconds(10);
  private static final long NEVER = Long.MIN_VALUE;

  private final String method;
  private final String statistic;
  private final String setting;
  private final Occasions late;
  private final Occasions failures;

  private CallWarnings(String method, String statistic, String setting, TimeSource time) {
    this.method = method;
    this.statistic = statistic;
    this.setting = setting;
    this.late = new Occasions(time);
    this.failures = new Occasions(time);
  }

  /** Warnings that name what Envoy's rate limit filter counts, and where its timeout is set. */
  static CallWarnings ofRateLimits(TimeSource time) {
    return new CallWarnings(
        "ShouldRateLimit",
        "cluster.<name>.ratelimit.failure_mode_allowed",
        "`timeout` of the rate limit filter, 0.1s recommended, 20 ms by default",
        time);
  }

  /** The same of the filter for external authorization. */
  static CallWarnings ofChecks(TimeSource time) {
    return new CallWarnings(
        "Check",
        "cluster.<name>.ext_authz.failure_mode_allowed",
        "`grpc_service.timeout` of the ext_authz filter, 200 ms by default",
        time);
  }

  /** Notes a call that came too late for its caller. */
  void missed() {
    long calls = late.toReport();
    if (calls > 0) {
      LOG.warn(
          "Envoy gave up on {} {} calls since the last warning: unless it is to deny on failure, it"
              + " let their requests pass and counted them in {}; if this process is only slow,"
              + " raise {}",
          calls,
          method,
          statistic,
          setting);
    }
  }

  /** Notes a call that failed by a fault of this program; the stack trace is of the last one. */
  void failed(Throwable cause) {
    long calls = failures.toReport();
    if (calls > 0) {
      LOG.error("{} {} calls failed since the last such line", calls, method, cause);
    }
  }

  /** Counts what happens until it may be logged again. */
  private static final class Occasions {
    private final TimeSource time;
    private final LongAdder count = new LongAdder();
    private final AtomicLong lastNanos = new AtomicLong(NEVER);

    Occasions(TimeSource time) {
      this.time = time;
    }

    /** Counts one, and returns how many there were since the last line; 0 while none is due. */
    long toReport() {
      count.increment();
      long now = time.monotonicNanos();
      long last = lastNanos.get();
      boolean due = last == NEVER || now - last >= INTERVAL.toNanos();
      return due && lastNanos.compareAndSet(last, now) ? count.sumThenReset() : 0;
    }
  }
}
