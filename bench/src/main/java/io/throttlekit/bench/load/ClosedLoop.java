package io.throttlekit.bench.load;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.command.Bounds;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Closed loop: a fixed number of callers per connection, each sending its next request after a
 * reply. It measures the maximum throughput of a server, and is not suited to measure latency.
 *
 * @param inFlight callers per connection, from 1
 */
public record ClosedLoop(int inFlight) implements Load {
  // Bounds the recursion: a caller sends again from within a failed call.
  private static final long MAX_FAILURES = 200;
  // A call that takes longer is lost, and the run void.
  private static final long GRACE_SECONDS = 30;

  @Override
  public LoadResult offer(Connections connections, Requests requests, Bounds bounds)
      throws InterruptedException {
    Run run = new Run(connections, requests, bounds, inFlight * connections.count());
    return run.run();
  }

  private static final class Run {
    private final TimeSource time = TimeSource.system();
    private final Connections connections;
    private final Requests requests;
    private final long limit;
    private final int callers;
    private final long startNanos;
    private final long endNanos;
    private final Tally tally;
    private final AtomicLong sequence = new AtomicLong();
    private final CountDownLatch finished;

    Run(Connections connections, Requests requests, Bounds bounds, int callers) {
      this.connections = connections;
      this.requests = requests;
      this.limit = bounds.requests();
      this.callers = callers;
      this.startNanos = time.monotonicNanos();
      this.endNanos = startNanos + bounds.time().toNanos();
      this.tally = new Tally(startNanos, bounds);
      this.finished = new CountDownLatch(callers);
    }

    LoadResult run() throws InterruptedException {
      for (int caller = 0; caller < callers; caller++) {
        new Caller(caller).sendNext();
      }
      long remaining = endNanos - time.monotonicNanos() + TimeUnit.SECONDS.toNanos(GRACE_SECONDS);
      if (!finished.await(remaining, TimeUnit.NANOSECONDS)) {
        throw new IllegalStateException(finished.getCount() + " calls were never answered");
      }
      if (tally.failures() >= MAX_FAILURES) {
        throw new IllegalStateException(tally.failures() + " calls failed");
      }
      return tally.result(time.monotonicNanos());
    }

    private final class Caller extends ClientCall.Listener<byte[]> {
      private final long connection;
      private long sinceNanos;
      private byte[] reply = new byte[0];

      Caller(long connection) {
        this.connection = connection;
      }

      void sendNext() {
        sinceNanos = time.monotonicNanos();
        if (sinceNanos - endNanos >= 0 || tally.failures() >= MAX_FAILURES) {
          finished.countDown();
          return;
        }
        long place = sequence.getAndIncrement();
        if (place >= limit) {
          finished.countDown();
          return;
        }
        connections.send(connection, requests.at(place), this);
      }

      @Override
      public void onMessage(byte[] message) {
        reply = message;
      }

      @Override
      public void onClose(Status status, Metadata trailers) {
        if (status.isOk()) {
          tally.answered(sinceNanos, time.monotonicNanos(), reply);
        } else {
          tally.failed();
        }
        sendNext();
      }
    }
  }
}
