package io.throttlekit.simulator.concurrency;

import io.throttlekit.limit.LoggedRequests;
import io.throttlekit.limit.Sample;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.ArrayList;
import java.util.List;

/**
 * A proxy that applies the last limit pushed to it, and whose access log feeds the algorithm: late,
 * in batches of one worker each, and with losses.
 *
 * <p>An entry has the start time of its request, by this process's clock. The requests in flight
 * then are counted from the log and the load reports, as the service does it. A request whose
 * client left has no usable entry. Refusals are entries, too. One push is in progress at a time.
 */
final class LoggedLimiter implements SimulatedLimiter {
  private static final int ENTRIES = 3; // of the stream of random numbers

  private final SimulatedAlgorithm algorithm;
  private final Chain chain;
  private final Chance chance;
  private final List<Buffer> buffers = new ArrayList<>();
  private final LoggedRequests requests = new LoggedRequests();
  private int limit;
  private int pushed;
  private long pushedUntil = Long.MAX_VALUE;
  private int nextBuffer;
  private long nextFlush;
  private int inFlight;
  private long nextReport;

  /** The entries of a worker that are not yet sent. */
  private static final class Buffer {
    private final List<Sample> samples = new ArrayList<>();
    private long refused;
  }

  LoggedLimiter(SimulatedAlgorithm algorithm, Chain chain, long seed) {
    this.algorithm = algorithm;
    this.chain = chain;
    this.chance = new Chance(seed, ENTRIES);
    this.limit = algorithm.limit();
    for (int i = 0; i < chain.workers(); i++) {
      buffers.add(new Buffer());
    }
    this.nextReport = chain.reportNanos();
    this.nextFlush = chain.flushNanos() / chain.workers();
  }

  @Override
  public int limit() {
    return limit;
  }

  @Override
  public boolean admit(long number, long nowNanos, int inFlight) {
    this.inFlight = inFlight;
    if (inFlight < limit) {
      this.inFlight++;
      return true;
    }
    Buffer buffer = worker();
    if (arrives()) {
      buffer.refused++;
    }
    return false;
  }

  @Override
  public void ended(
      long number,
      long startNanos,
      long nowNanos,
      int inFlightThen,
      int inFlightNow,
      boolean dropped) {
    inFlight = inFlightNow - 1;
    Buffer buffer = worker();
    if (arrives() && !dropped) { // the log has no latency of a client that left
      long rttNanos = nowNanos - startNanos;
      buffer.samples.add(new Sample(startNanos, rttNanos, nowNanos, 1, false, false));
    }
  }

  @Override
  public long next() {
    return Math.min(nextReport, Math.min(nextFlush, pushedUntil));
  }

  @Override
  public void wake() {
    long now = next();
    if (now == nextReport) {
      requests.reported(inFlight, now);
      nextReport += chain.reportNanos();
    } else if (now == pushedUntil) {
      applied(pushedUntil);
    } else {
      flush(nextFlush);
    }
  }

  private void applied(long now) {
    limit = pushed;
    pushedUntil = Long.MAX_VALUE;
    algorithm.acknowledged(limit, now);
    push(now);
  }

  private void flush(long now) {
    Buffer buffer = buffers.get(nextBuffer);
    nextBuffer = (nextBuffer + 1) % buffers.size();
    nextFlush = now + chain.flushNanos() / buffers.size();
    boolean full = buffer.refused > 0;
    for (Sample sample : buffer.samples) {
      requests.add(new Sample(sample.startNanos(), sample.rttNanos(), now, 1, full, false));
    }
    requests.pass(algorithm.isProbing(), now, algorithm::learn);
    algorithm.refused(now, buffer.refused);
    buffer.samples.clear();
    buffer.refused = 0;
    push(now);
  }

  private void push(long now) {
    if (pushedUntil == Long.MAX_VALUE && limit != algorithm.limit()) {
      pushed = algorithm.limit();
      pushedUntil = now + chain.pushNanos();
    }
  }

  private Buffer worker() {
    return buffers.get((int) (chance.uniform() * buffers.size()));
  }

  private boolean arrives() {
    return chance.uniform() >= chain.loss();
  }
}
