package io.throttlekit.service.server;

import io.throttlekit.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of calls that Envoy gave up on, at most once in {@link #INTERVAL}: Envoy counts them where
 * few look, and by default lets their requests pass. Thread-safe.
 */
final class TimeoutWarnings {
  private static final Logger LOG = LoggerFactory.getLogger(TimeoutWarnings.class);
  static final Duration INTERVAL = Duration.ofSeconds(10);
  private static final long NEVER = Long.MIN_VALUE;

  private final String method;
  private final String statistic;
  private final String setting;
  private final TimeSource time;
  private final LongAdder calls = new LongAdder();
  private final AtomicLong lastNanos = new AtomicLong(NEVER);

  private TimeoutWarnings(String method, String statistic, String setting, TimeSource time) {
    this.method = method;
    this.statistic = statistic;
    this.setting = setting;
    this.time = time;
  }

  /** Warnings that name what Envoy's rate limit filter counts, and where its timeout is set. */
  static TimeoutWarnings ofRateLimits(TimeSource time) {
    return new TimeoutWarnings(
        "ShouldRateLimit",
        "cluster.<name>.ratelimit.failure_mode_allowed",
        "`timeout` of the rate limit filter, 0.1s recommended, 20 ms by default",
        time);
  }

  /** The same of the filter for external authorization. */
  static TimeoutWarnings ofChecks(TimeSource time) {
    return new TimeoutWarnings(
        "Check",
        "cluster.<name>.ext_authz.failure_mode_allowed",
        "`grpc_service.timeout` of the ext_authz filter, 200 ms by default",
        time);
  }

  /** Notes a call that came too late for its caller. */
  void missed() {
    calls.increment();
    long now = time.monotonicNanos();
    long last = lastNanos.get();
    if ((last == NEVER || now - last >= INTERVAL.toNanos()) && lastNanos.compareAndSet(last, now)) {
      LOG.warn(
          "Envoy gave up on {} {} calls since the last warning: unless it is to deny on failure, it"
              + " let their requests pass and counted them in {}; if this process is only slow,"
              + " raise {}",
          calls.sumThenReset(),
          method,
          statistic,
          setting);
    }
  }
}
