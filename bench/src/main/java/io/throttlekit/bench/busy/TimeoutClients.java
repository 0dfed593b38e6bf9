package io.throttlekit.bench.busy;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.testkit.net.EventLoops;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * Sends requests at a steady rate over a few connections, whether or not they are answered, with a
 * timeout of {@link #PATIENCE_MILLIS} as Envoy has one, and probes the service's health. For one
 * thread.
 */
final class TimeoutClients implements AutoCloseable {
  static final int PATIENCE_MILLIS = 20; // Envoy's default timeout of the rate limit filter

  /** Timeout of a probe, as orchestrators have it: a slower process would be restarted. */
  private static final int PROBE_SECONDS = 1;

  private static final int CONNECTIONS = 4; // as an Envoy with four workers
  // Bounds the generator's memory; never reached at these rates and timeouts.
  private static final int MAX_IN_FLIGHT = 50_000;
  // Requests due within it go together, as from one iteration of Envoy's event loop.
  private static final long TICK_NANOS = 250_000;
  private static final Metadata.Key<String> TIMEOUT =
      Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER);

  private final TimeSource time = TimeSource.system();
  private final EventLoopGroup loops = EventLoops.of(1);
  private final List<ManagedChannel> channels;
  private final ManagedChannel probing;
  private final List<RateLimitRequest> requests =
      IntStream.range(0, 1_000).mapToObj(TimeoutClients::ofUser).toList();

  /** Connects clients to the service at a port of this host. */
  TimeoutClients(int port) {
    channels = IntStream.range(0, CONNECTIONS).mapToObj(_ -> channel(port)).toList();
    probing = channel(port);
  }

  private ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .channelType(EventLoops.clientChannel())
        .eventLoopGroup(loops)
        .directExecutor()
        .disableRetry()
        .usePlaintext()
        .build();
  }

  private static RateLimitRequest ofUser(int user) {
    return RateLimitRequest.newBuilder()
        .setDomain("busy")
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(
                    RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue("user-" + user)))
        .build();
  }

  /** Offers the load, and waits until each call has ended. */
  Offered offer(int perSecond, Duration length) throws InterruptedException {
    Histogram lag = new Histogram(TimeUnit.SECONDS.toNanos(60), 3);
    LongAdder inTime = new LongAdder();
    LongAdder refused = new LongAdder();
    Semaphore inFlight = new Semaphore(MAX_IN_FLIGHT);
    Probe probe = new Probe();
    Thread probing = Thread.ofPlatform().name("health-probe").start(probe);
    long start = time.monotonicNanos();
    long total = perSecond * length.toMillis() / 1_000;
    for (long place = 0; place < total; place++) {
      long intended = start + place * TimeUnit.SECONDS.toNanos(1) / perSecond;
      long now = time.monotonicNanos();
      while (now < intended) {
        LockSupport.parkNanos(Math.max(intended - now, TICK_NANOS));
        now = time.monotonicNanos();
      }
      lag.recordValue(Math.min(now - intended, lag.getHighestTrackableValue()));
      inFlight.acquire();
      // The client's timeout counts from here, as its deadline does; the lag before is reported.
      send(place, new Answer(time.monotonicNanos(), inTime, refused, inFlight));
    }
    inFlight.acquire(MAX_IN_FLIGHT);
    probe.ended = true;
    probing.join();
    return new Offered(
        perSecond,
        total,
        inTime.sum(),
        refused.sum(),
        length,
        lag.getValueAtPercentile(99) / 1e6,
        lag.getMaxValue() / 1e6,
        probe.mostHeapBytes,
        probe.probes,
        probe.bad,
        probe.slowestNanos / 1e6);
  }

  private void send(long place, ClientCall.Listener<RateLimitResponse> answer) {
    ClientCall<RateLimitRequest, RateLimitResponse> call =
        channels
            .get((int) (place % CONNECTIONS))
            .newCall(
                RateLimitServiceGrpc.getShouldRateLimitMethod(),
                CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_MILLIS, TimeUnit.MILLISECONDS));
    Metadata headers = new Metadata();
    headers.put(TIMEOUT, Integer.toString(PATIENCE_MILLIS));
    call.start(answer, headers);
    call.request(2);
    call.sendMessage(requests.get((int) (place % requests.size())));
    call.halfClose();
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    probing.shutdownNow();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private final class Answer extends ClientCall.Listener<RateLimitResponse> {
    private final long sentNanos;
    private final LongAdder inTime;
    private final LongAdder refused;
    private final Semaphore inFlight;

    Answer(long sentNanos, LongAdder inTime, LongAdder refused, Semaphore inFlight) {
      this.sentNanos = sentNanos;
      this.inTime = inTime;
      this.refused = refused;
      this.inFlight = inFlight;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      long nanos = time.monotonicNanos() - sentNanos;
      if (status.isOk() && nanos <= TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS)) {
        inTime.increment();
      } else if (String.valueOf(status.getDescription()).startsWith("read too late")) {
        refused.increment();
      }
      inFlight.release();
    }
  }

  /** Returns the used heap without allocations since the last collection. */
  private static long outlivedBytes() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP && !pool.getName().contains("Eden"))
        .mapToLong(pool -> pool.getUsage().getUsed())
        .sum();
  }

  private final class Probe implements Runnable {
    private volatile boolean ended;
    private int probes;
    private int bad;
    private long slowestNanos;
    private long mostHeapBytes;

    @Override
    public void run() {
      while (!ended) {
        long sent = time.monotonicNanos();
        boolean serving;
        try {
          serving =
              HealthGrpc.newBlockingStub(probing)
                      .withDeadlineAfter(PROBE_SECONDS, TimeUnit.SECONDS)
                      .check(HealthCheckRequest.getDefaultInstance())
                      .getStatus()
                  == ServingStatus.SERVING;
        } catch (io.grpc.StatusRuntimeException e) {
          serving = false;
        }
        probes++;
        bad += serving ? 0 : 1;
        slowestNanos = Math.max(slowestNanos, time.monotonicNanos() - sent);
        mostHeapBytes = Math.max(mostHeapBytes, outlivedBytes());
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
    }
  }
}
