package io.throttlekit.service.server;

import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failed calls, at most one line of each kind in 10 s, so that clients cannot fill the log.
 *
 * <p>There are two kinds: calls that timed out at Envoy, which admits their requests by default and
 * shows them only in its failure counter, and calls that failed because of an error in this
 * program. Thread-safe.
 */
final class CallWarnings {
  private static final Logger LOG = LoggerFactory.getLogger(CallWarnings.class);
  // One line per kind: a client could cause thousands a second.
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  private final String method;
  private final String statistic;
  private final String setting;
  private final TimeSource time;
  private final LongAdder late = new LongAdder();
  private final LogInterval lateLines;
  private final LongAdder failures = new LongAdder();
  private final LogInterval failureLines;

  private CallWarnings(String method, String statistic, String setting, TimeSource time) {
    this.method = method;
    this.statistic = statistic;
    this.setting = setting;
    this.time = time;
    this.lateLines = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
    this.failureLines = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
  }

  /**
   * Returns warnings that name the statistic and the timeout setting of Envoy's rate limit filter.
   */
  static CallWarnings ofRateLimits(TimeSource time) {
    return new CallWarnings(
        "ShouldRateLimit",
        "cluster.<name>.ratelimit.failure_mode_allowed",
        "`timeout` of the rate limit filter, 0.1s recommended, 20 ms by default",
        time);
  }

  /** Returns warnings that name those of Envoy's external authorization filter. */
  static CallWarnings ofChecks(TimeSource time) {
    return new CallWarnings(
        "Check",
        "cluster.<name>.ext_authz.failure_mode_allowed",
        "`grpc_service.timeout` of the ext_authz filter, 200 ms by default",
        time);
  }

  /** Counts a call whose caller has timed out. */
  void missed() {
    late.increment();
    if (lateLines.isDue(time.monotonicNanos())) {
      LOG.warn(
          "Envoy timed out on {} {} calls since the last warning: unless it is to deny on failure,"
              + " it let their requests pass and counted them in {}; if this process is only slow,"
              + " raise {}",
          late.sumThenReset(),
          method,
          statistic,
          setting);
    }
  }

  /**
   * Counts a call that failed because of an error in this program; the line has the stack trace of
   * the last one.
   */
  void failed(Throwable cause) {
    failures.increment();
    if (failureLines.isDue(time.monotonicNanos())) {
      LOG.error(
          "{} {} calls failed since the last such line", failures.sumThenReset(), method, cause);
    }
  }
}
