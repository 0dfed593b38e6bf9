package io.throttlekit.service.telemetry;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.log.LogInterval;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Log lines of one kind about rules: one for each rule in 10 s. Written on another thread, because
 * the event loops that notify metrics must not block. Thread-safe.
 */
final class RuleLog {
  /** The interval of lines. */
  static final Duration INTERVAL = Duration.ofSeconds(10);

  // lines that wait for a slow log; more are left out
  private static final int MAX_PENDING_LINES = 20;
  // rules are few, but reloads rename them: bounds memory
  private static final int MAX_LOGGED_RULES = 1_000;

  private final Executor logger;
  private final TimeSource time;
  private final Map<String, LogInterval> lines = new ConcurrentHashMap<>();

  /**
   * @param logger writes log lines on another thread, or throws {@link RejectedExecutionException}
   */
  RuleLog(Executor logger, TimeSource time) {
    this.logger = logger;
    this.time = time;
  }

  /** Returns a thread for log lines, which ends while nothing is logged. */
  static Executor thread(String name) {
    return new ThreadPoolExecutor(
        0,
        1,
        INTERVAL.toMillis(),
        TimeUnit.MILLISECONDS,
        new ArrayBlockingQueue<>(MAX_PENDING_LINES),
        Thread.ofPlatform().daemon().name(name).factory());
  }

  /** Writes a line about a rule if one is due. Returns whether it is written. */
  boolean write(Rule rule, Runnable line) {
    long nanos = time.monotonicNanos();
    return write(interval(rule, nanos), nanos, line);
  }

  /**
   * Writes a line about a rule if one is due. Returns whether it is written, or was since a time.
   *
   * @param sinceNanos monotonic
   */
  boolean writeOnce(Rule rule, long sinceNanos, Runnable line) {
    long nanos = time.monotonicNanos();
    LogInterval interval = interval(rule, nanos);
    return interval.isAllowedSince(sinceNanos) || write(interval, nanos, line);
  }

  private boolean write(LogInterval interval, long nanos, Runnable line) {
    if (!interval.isDue(nanos)) {
      return false;
    }
    boolean isWritten = write(line);
    if (!isWritten) {
      interval.reopen(nanos);
    }
    return isWritten;
  }

  private LogInterval interval(Rule rule, long nanos) {
    String name = rule.domain() + ": " + rule.path();
    if (lines.size() >= MAX_LOGGED_RULES && !lines.containsKey(name)) {
      name = "other rules"; // which then share one line per interval
    }
    return lines.computeIfAbsent(name, _ -> new LogInterval(INTERVAL, nanos));
  }

  /** Writes a line. Returns whether it is written: not if too many wait. */
  boolean write(Runnable line) {
    try {
      logger.execute(line);
      return true;
    } catch (RejectedExecutionException tooManyLines) {
      return false;
    }
  }
}
