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
  private final Periods periods = new Periods(PERIOD_NANOS);
  private final TimeoutCount requests = new TimeoutCount();

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
    return 2 * requests.timeouts() > requests.requests();
  }

  private void count(boolean timeout, long nowNanos) {
    long ended = periods.ended(nowNanos);
    if (ended > 0) {
      // more than one period without requests: the counts are too old
      var _ = requests.next(ended > 1);
    }
    requests.add(timeout);
  }
}
