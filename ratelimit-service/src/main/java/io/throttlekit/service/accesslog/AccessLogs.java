package io.throttlekit.service.accesslog;

import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc.AccessLogServiceImplBase;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.service.sensor.Sensed;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes access logs from Envoys: the service {@code envoy.service.accesslog.v3.AccessLogService}.
 *
 * <p>A log is a sensor, and an unsure one: Envoy loses entries without counting them, and sends
 * them late. So nothing is owed to it either: when more samples come than there is time for, they
 * are dropped and counted, and no Envoy is made to wait. Whatever a stream sends, it is remembered
 * by a bounded amount: of each request its identity, for as long as copies may come, and of each
 * stream how its clock differs.
 *
 * <p>Thread-safe; nothing here waits, and a direct executor will do.
 */
public final class AccessLogs extends AccessLogServiceImplBase {
  private static final int MOST_STREAMS = 10_000;
  private static final int MOST_REMEMBERED = 1 << 15;
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  private final Sensed sensed;
  private final AccessLogListener listener;
  private final TimeSource time;
  private final int samplesPerSecond;
  private final int mostStreams;
  private final RecentIds recent;
  private final AtomicInteger streams = new AtomicInteger();
  private final LogInterval faults;

  /**
   * Tells {@code sensed} of every request that is logged.
   *
   * @param samplesPerSecond most that one stream may teach, from 1; what is beyond is told as
   *     crowded out
   */
  public AccessLogs(
      Sensed sensed, AccessLogListener listener, TimeSource time, int samplesPerSecond) {
    this(sensed, listener, time, samplesPerSecond, MOST_STREAMS, MOST_REMEMBERED);
  }

  AccessLogs(
      Sensed sensed,
      AccessLogListener listener,
      TimeSource time,
      int samplesPerSecond,
      int mostStreams,
      int mostRemembered) {
    this.sensed = sensed;
    this.listener = listener;
    this.time = time;
    this.samplesPerSecond = samplesPerSecond;
    this.mostStreams = mostStreams;
    this.recent = new RecentIds(mostRemembered);
    this.faults = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
  }

  @Override
  public StreamObserver<StreamAccessLogsMessage> streamAccessLogs(
      StreamObserver<StreamAccessLogsResponse> answers) {
    var call = (ServerCallStreamObserver<StreamAccessLogsResponse>) answers; // in a server it is
    LogStream stream = new LogStream(this, call);
    if (streams.incrementAndGet() > mostStreams) {
      streams.decrementAndGet();
      listener.turnedAway();
      stream.turnAway(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "no more than " + mostStreams + " access logs at once"));
    } else {
      listener.opened();
      call.setOnCancelHandler(stream::over);
      call.setOnCloseHandler(stream::over);
    }
    return stream;
  }

  void closed() {
    streams.decrementAndGet();
    listener.closed();
  }

  Sensed sensed() {
    return sensed;
  }

  AccessLogListener listener() {
    return listener;
  }

  RecentIds recent() {
    return recent;
  }

  /** Whether a fault may be logged: all streams together log one in 10 s. */
  boolean mayLogFault(long nowNanos) {
    return faults.isDue(nowNanos);
  }

  SampleBudget budget() {
    return new SampleBudget(samplesPerSecond);
  }

  long nowNanos() {
    return time.monotonicNanos();
  }
}
