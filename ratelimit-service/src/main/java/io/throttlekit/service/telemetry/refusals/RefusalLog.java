package io.throttlekit.service.telemetry.refusals;

import io.throttlekit.Decision;
import io.throttlekit.Scheduler;
import io.throttlekit.service.log.StructuredRecord;
import io.throttlekit.service.telemetry.refusals.TopRefusals.Refused;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Writes the keys that were refused most to the log, at most {@link #MAX_LINES} in an interval.
 * Thread-safe.
 */
final class RefusalLog {
  /** Keys that are logged in an interval. */
  static final int MAX_LINES = 5;

  private static final String NAME = RefusalLog.class.getName();
  private static final Logger LOG = Logger.getLogger(NAME);

  private final Scheduler timer;
  private final Duration interval;
  private TopRefusals refusals = new TopRefusals();
  private boolean isScheduled;

  /**
   * @param timer writes log lines
   * @param interval 0 for no lines
   */
  RefusalLog(Scheduler timer, Duration interval) {
    this.timer = timer;
    this.interval = interval;
  }

  /** Returns a timer on a thread for log lines, which ends while nothing is logged. */
  static Scheduler thread() {
    ScheduledThreadPoolExecutor thread =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("refusal-log").factory());
    thread.setKeepAliveTime(1, TimeUnit.SECONDS);
    thread.allowCoreThreadTimeOut(true);
    return (nanos, task) -> {
      var _ = thread.schedule(task, nanos, TimeUnit.NANOSECONDS);
    };
  }

  /** Adds refusals of one key. */
  void add(Refused more) {
    if (interval.isZero()) {
      return;
    }
    synchronized (this) {
      refusals.add(more);
      if (isScheduled) {
        return;
      }
      isScheduled = true;
    }
    timer.runAfter(interval.toNanos(), this::write);
  }

  private void write() {
    List<Refused> all;
    synchronized (this) {
      all = refusals.all();
      refusals = new TopRefusals();
      isScheduled = false;
    }
    TopRefusals.top(all, MAX_LINES)
        .forEach(refused ->
            LOG.log(new StructuredRecord(Level.INFO, NAME, "requests refused", fields(refused))));
  }

  private Map<String, Object> fields(Refused refused) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("domain", refused.key().domain());
    fields.put("rule", refused.key().rule());
    fields.put("descriptor", refused.key().descriptor());
    fields.put("refusals", refused.refusals());
    fields.put("interval_ms", interval.toMillis());
    fields.put("limit", refused.limit());
    if (refused.retryAfterMillis() != Decision.NEVER) {
      fields.put("retry_after_ms", refused.retryAfterMillis());
    }
    fields.put("shadow", refused.shadow());
    return fields;
  }
}
