package io.throttlekit.service.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * Judges what releases report about the requests of one concurrency limit.
 *
 * <p>A stream-done call names neither route nor client. So timeouts are evidence of overload only
 * while more than half of the requests time out: fewer may belong to one slow route. Requests of
 * the last 5 to 10 s count. Times are monotonic ns. Thread-safe.
 */
final class ReportedEnds {
  /** Length of a period; the current and the previous one count. */
  private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(5);

  /**
   * Time after the last reported latency in which one is expected. Longer than most outages of a
   * backend, short enough to follow a change of Envoy's configuration.
   */
  private static final long EXPECTED_NANOS = TimeUnit.MINUTES.toNanos(10);

  // Guarded by this.
  private boolean measured;
  private long measuredNanos;
  private boolean begun;
  private long periodNanos;
  private int answered;
  private int timedOut;
  private int answeredBefore;
  private int timedOutBefore;

  /** Returns the evidence of a request that ended now. */
  synchronized Ending ending(StreamReport report, long nowNanos) {
    if (report.hasLatency()) {
      measured = true;
      measuredNanos = nowNanos;
    }
    return switch (report.end()) {
      case ANSWERED -> {
        count(false, nowNanos);
        yield new Ending.Measured(report.latencyNanos());
      }
      case UNMEASURED -> {
        if (expectsLatency(nowNanos)) {
          // Envoy's own response, or the client left during the backend's
          yield Ending.Plain.UNKNOWN;
        }
        count(false, nowNanos);
        yield Ending.Plain.ANSWERED;
      }
      case TIMED_OUT -> {
        count(true, nowNanos);
        yield mostTimeOut() ? Ending.Plain.TIMED_OUT : Ending.Plain.UNKNOWN;
      }
      case FAILED, NO_RESPONSE, UPGRADED -> Ending.Plain.UNKNOWN;
    };
  }

  private boolean expectsLatency(long nowNanos) {
    return measured && nowNanos - measuredNanos < EXPECTED_NANOS;
  }

  private boolean mostTimeOut() {
    return (long) timedOut + timedOutBefore > (long) answered + answeredBefore;
  }

  private void count(boolean timeout, long nowNanos) {
    roll(nowNanos);
    if (timeout) {
      timedOut++;
    } else {
      answered++;
    }
  }

  private void roll(long nowNanos) {
    if (!begun) {
      begun = true;
      periodNanos = nowNanos;
    }
    long periods = (nowNanos - periodNanos) / PERIOD_NANOS;
    if (periods > 0) {
      periodNanos += periods * PERIOD_NANOS;
      // more than one period without requests: the counts are too old
      answeredBefore = periods > 1 ? 0 : answered;
      timedOutBefore = periods > 1 ? 0 : timedOut;
      answered = 0;
      timedOut = 0;
    }
  }
}
