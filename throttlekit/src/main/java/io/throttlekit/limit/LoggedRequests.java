package io.throttlekit.limit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Requests of access logs, which arrive late, in batches and in any order. Passes each on as a
 * sample with the requests in flight when it began, counted from the starts and ends of the others.
 *
 * <p>A sample waits until the requests that were in flight with it are logged: for the greatest
 * delay of an entry in the last seconds, and one and a half mean latencies. With the number at the
 * entry's arrival a queue would look like a slower backend: latency does not follow that number.
 *
 * <p>Requests that are not in the log (lost, or not ended) are added as the mean difference from
 * load reports. Memory is bounded: beyond {@value #MAX_WAITING} entries the oldest wait no longer.
 * Not thread-safe. Times are monotonic ns of this process.
 */
public final class LoggedRequests {
  private static final int MAX_WAITING = 1 << 17;

  /** The longest delay of an entry that others wait for: several times the flush of a log. */
  private static final long MAX_DELAY_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** How long the latest entry counts, and up to twice as long. */
  private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(4);

  /**
   * Mean latencies after which most requests that were in flight have ended. Found by experiment:
   * docs/adr/0021-requests-in-flight-from-the-log.md.
   */
  private static final double LATENCIES = 1.5;

  /** The longest latency that is waited for. */
  private static final double MAX_LATENCY_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The weight of a latency in the mean. */
  private static final double LATENCY_WEIGHT = 0.01;

  /** The weight of a load report. */
  private static final double REPORT_WEIGHT = 0.2;

  private final PriorityQueue<Entry> waiting =
      new PriorityQueue<>(
          (one, other) -> compare(one.request.startNanos(), other.request.startNanos()));

  /** When requests end that began before the last entry that was passed on. */
  private final PriorityQueue<Long> ends = new PriorityQueue<>(LoggedRequests::compare);

  private final Deque<Report> reports = new ArrayDeque<>();
  private boolean begun;
  private long periodNanos;
  private long delayBefore;
  private long delay;
  private double latency;

  /** Mean of the requests that were in flight and not in the log. */
  private double unlogged;

  private record Entry(Sample request, boolean teaches) {}

  private record Report(int inFlight, long nanos) {}

  /** Creates a log without entries. */
  public LoggedRequests() {}

  /**
   * Adds a request that is to be passed on.
   *
   * @param request its number in flight is not used
   */
  public void add(Sample request) {
    add(request, true);
  }

  /** Adds a request that is only counted for the others. */
  public void count(Sample request) {
    add(request, false);
  }

  private void add(Sample request, boolean teaches) {
    if (!request.dropped()) { // how long a dropped one took is not known
      measure(request);
    }
    waiting.add(new Entry(request, teaches));
  }

  private void measure(Sample request) {
    long now = request.arrivedNanos();
    if (!begun || now - periodNanos >= PERIOD_NANOS) {
      begun = true;
      periodNanos = now;
      delayBefore = delay;
      delay = 0;
    }
    long late = now - request.startNanos() - request.rttNanos();
    delay = Math.clamp(late, delay, MAX_DELAY_NANOS);
    double weight = latency == 0 ? 1 : LATENCY_WEIGHT;
    latency += weight * (Math.min((double) request.rttNanos(), MAX_LATENCY_NANOS) - latency);
  }

  /**
   * Adds a load report.
   *
   * @param inFlight requests in flight at all limiters, from 0
   */
  public void reported(int inFlight, long nowNanos) {
    if (reports.size() < MAX_WAITING) {
      reports.add(new Report(inFlight, nowNanos));
    }
  }

  /**
   * Passes on the requests whose number in flight is known, in the order of their starts.
   *
   * @param measuring whether an algorithm measures the baseline: a measurement is short and needs
   *     latencies only, so that no request waits
   */
  public void pass(boolean measuring, long nowNanos, Consumer<Sample> samples) {
    long known = known(nowNanos);
    while (!waiting.isEmpty()
        && (measuring || compare(first(), known) <= 0 || waiting.size() > MAX_WAITING)) {
      passFirst(nowNanos, known, samples);
    }
    if (!measuring) {
      sweep(known, known);
    }
  }

  private long first() {
    return waiting.element().request.startNanos();
  }

  /** Returns the time up to which the requests in flight are known. */
  private long known(long nowNanos) {
    return nowNanos - Math.max(delayBefore, delay) - (long) (LATENCIES * latency);
  }

  private void passFirst(long nowNanos, long known, Consumer<Sample> samples) {
    Entry entry = waiting.remove();
    Sample request = entry.request;
    sweep(request.startNanos(), known);
    if (ends.size() < MAX_WAITING) {
      long ended = request.startNanos() + request.rttNanos();
      long arrived = request.arrivedNanos(); // it had ended by then, whatever the log says
      ends.add(compare(ended, arrived) < 0 ? ended : arrived);
    }
    if (entry.teaches) {
      samples.accept(
          new Sample(
              request.startNanos(),
              request.rttNanos(),
              nowNanos,
              (int) Math.max(1, Math.round(ends.size() + unlogged)),
              request.full(),
              request.dropped()));
    }
  }

  /** Forgets the requests that ended until then, and compares reports until then. */
  private void sweep(long until, long known) {
    while (!reports.isEmpty() && compare(reports.element().nanos, until) <= 0) {
      Report report = reports.remove();
      forget(report.nanos);
      if (compare(report.nanos, known) <= 0) { // else the count is not complete
        unlogged += REPORT_WEIGHT * (report.inFlight - ends.size() - unlogged);
      }
    }
    forget(until);
  }

  private void forget(long until) {
    while (!ends.isEmpty() && compare(ends.element(), until) <= 0) {
      ends.remove();
    }
  }

  /** Compares monotonic times, which may overflow. */
  private static int compare(long one, long other) {
    return Long.signum(one - other);
  }
}
