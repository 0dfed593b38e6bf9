package io.throttlekit.bench.load;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.command.Bounds;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Open loop: sends requests at a steady rate, whether or not the server keeps up. It measures
 * latency as users see it.
 *
 * <p>A latency counts from the time at which the request should have been sent, so a pause of the
 * server, or of this process, is charged to every request that it delayed (no coordinated
 * omission).
 *
 * @param perSecond requests per second, from 1
 * @param time clock of sending and of latencies
 */
public record OpenLoop(int perSecond, TimeSource time) implements Load {
  // Bounds the generator's memory while the server stalls.
  private static final int MAX_IN_FLIGHT = 20_000;
  private static final long MAX_FAILURES = 1_000; // a load of errors measures nothing
  // A call that takes longer is lost, and the run void.
  private static final long GRACE_SECONDS = 30;

  /**
   * Requests due within this time are sent together, like those of one iteration of Envoy's event
   * loop. Waking up for each would take processor time from the server.
   */
  private static final long TICK_NANOS = 250_000;

  /** Creates a load with this host's clock. */
  public OpenLoop(int perSecond) {
    this(perSecond, TimeSource.system());
  }

  @Override
  public LoadResult offer(Connections connections, Requests requests, Bounds bounds)
      throws InterruptedException {
    Semaphore inFlight = new Semaphore(MAX_IN_FLIGHT);
    long start = time.monotonicNanos();
    Tally tally = new Tally(start, bounds);
    long total = Math.min(bounds.requests(), perSecond * bounds.time().toNanos() / 1_000_000_000L);
    for (long place = 0; place < total && tally.failures() < MAX_FAILURES; place++) {
      long intended = start + place * 1_000_000_000L / perSecond;
      waitUntil(time, intended);
      acquire(inFlight, 1);
      connections.send(place, requests.at(place), new Reply(time, tally, inFlight, intended));
    }
    acquire(inFlight, MAX_IN_FLIGHT);
    if (tally.failures() >= MAX_FAILURES) {
      throw new IllegalStateException(tally.failures() + " calls failed");
    }
    return tally.result(time.monotonicNanos());
  }

  private static void waitUntil(TimeSource time, long nanos) {
    for (long left = nanos - time.monotonicNanos();
        left > 0;
        left = nanos - time.monotonicNanos()) {
      LockSupport.parkNanos(Math.max(left, TICK_NANOS));
    }
  }

  private static void acquire(Semaphore inFlight, int permits) throws InterruptedException {
    if (!inFlight.tryAcquire(permits, GRACE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("calls were not answered within " + GRACE_SECONDS + " s");
    }
  }

  private static final class Reply extends ClientCall.Listener<byte[]> {
    private final TimeSource time;
    private final Tally tally;
    private final Semaphore inFlight;
    private final long intendedNanos;
    private byte[] message = new byte[0];

    Reply(TimeSource time, Tally tally, Semaphore inFlight, long intendedNanos) {
      this.time = time;
      this.tally = tally;
      this.inFlight = inFlight;
      this.intendedNanos = intendedNanos;
    }

    @Override
    public void onMessage(byte[] message) {
      this.message = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (status.isOk()) {
        tally.answered(intendedNanos, time.monotonicNanos(), message);
      } else {
        tally.failed();
      }
      inFlight.release();
    }
  }
}
