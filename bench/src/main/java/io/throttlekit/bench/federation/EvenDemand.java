package io.throttlekit.bench.federation;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.load.Connections;
import io.throttlekit.testkit.WindowTally;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Sends requests to each region at equal intervals, until it is closed. Admitted units are counted
 * by the windows of this host's clock, which all processes and stores use.
 */
final class EvenDemand implements AutoCloseable {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long MAX_NANOS = 10_000_000_000L; // longest latency recorded: 10 s

  private final TimeSource time = TimeSource.system();
  private final long windowNanos;
  private final byte[] request;
  private final ScheduledExecutorService clock;
  private final WindowTally admitted;
  private final LongAdder failed = new LongAdder();
  private final Histogram nanos = new ConcurrentHistogram(MAX_NANOS, 3);

  /**
   * Creates a demand that sends nothing yet.
   *
   * @param run value of the entry, so that the run has its own counter
   */
  EvenDemand(String run, long windowMillis) {
    this.windowNanos = TimeUnit.MILLISECONDS.toNanos(windowMillis);
    this.admitted = new WindowTally(windowMillis, 1);
    RateLimitDescriptor.Entry entry =
        RateLimitDescriptor.Entry.newBuilder().setKey("run").setValue(run).build();
    this.request =
        RateLimitRequest.newBuilder()
            .setDomain("regions")
            .addDescriptors(RateLimitDescriptor.newBuilder().addEntries(entry))
            .build()
            .toByteArray();
    ThreadFactory thread = Thread.ofPlatform().daemon().name("demand").factory();
    this.clock = Executors.newSingleThreadScheduledExecutor(thread);
  }

  /**
   * Starts to send requests at this rate. They are aligned to the windows: the first request of a
   * window is sent half an interval after it began.
   */
  void offer(Connections region, double perSecond) {
    long every = Math.round(NANOS_PER_SECOND / perSecond);
    long sinceBegin = Math.floorMod(TimeUnit.MILLISECONDS.toNanos(time.wallMillis()), windowNanos);
    long first = Math.floorMod(every / 2 - sinceBegin, every);
    var _ =
        clock.scheduleAtFixedRate(
            () -> region.send(0, request, new Answer()), first, every, TimeUnit.NANOSECONDS);
  }

  /** Returns the admitted units of all regions together. */
  WindowTally admitted() {
    return admitted;
  }

  long failed() {
    return failed.sum();
  }

  /** Returns the latencies in ns since the last call. */
  Histogram takeLatencies() {
    Histogram taken = nanos.copy();
    nanos.reset();
    return taken;
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }

  private final class Answer extends ClientCall.Listener<byte[]> {
    private final long sentNanos = time.monotonicNanos();
    private final long sentMillis = time.wallMillis();

    @Override
    public void onMessage(byte[] message) {
      nanos.recordValue(Math.clamp(time.monotonicNanos() - sentNanos, 0, MAX_NANOS));
      try {
        count(RateLimitResponse.parseFrom(message));
      } catch (InvalidProtocolBufferException e) {
        failed.increment();
      }
    }

    private void count(RateLimitResponse answer) {
      if (answer.getOverallCode() == Code.OK) {
        admitted.admitted(0, sentMillis, time.wallMillis());
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!status.isOk()) {
        failed.increment();
      }
    }
  }
}
