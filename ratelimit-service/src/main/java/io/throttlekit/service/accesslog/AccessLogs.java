package io.throttlekit.service.accesslog;

import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc.AccessLogServiceImplBase;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import io.throttlekit.service.sensor.OutcomeListener;
import java.time.Duration;

/**
 * Receives access logs from Envoys: the service {@code
 * envoy.service.accesslog.v3.AccessLogService}.
 *
 * <p>Logs are an unreliable sensor: Envoy loses entries without counting them, and sends them late.
 * Samples beyond the budget of a stream are therefore dropped and counted instead of slowing Envoy
 * down. Memory is bounded: for each request its identity while copies may still arrive, and for
 * each stream the offset of its clock. The server bounds the number of streams.
 *
 * <p>Thread-safe; never blocks, so a direct executor suffices.
 */
public final class AccessLogs extends AccessLogServiceImplBase {
  // copies arrive within about ten thousand requests of each other
  private static final int MAX_REMEMBERED = 1 << 15;
  // an Envoy may send thousands of faulty entries a second
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  private final OutcomeListener sensed;
  private final AccessLogListener listener;
  private final TimeSource time;
  private final int samplesPerSecond;
  private final RecentIds recent;
  private final LogInterval faults;

  /**
   * Creates a service that notifies {@code sensed} of each logged request.
   *
   * @param samplesPerSecond samples that one stream may contribute, from 1; requests beyond that
   *     are reported as crowded out
   */
  public AccessLogs(
      OutcomeListener sensed, AccessLogListener listener, TimeSource time, int samplesPerSecond) {
    this.sensed = sensed;
    this.listener = listener;
    this.time = time;
    this.samplesPerSecond = samplesPerSecond;
    this.recent = new RecentIds(MAX_REMEMBERED);
    this.faults = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
  }

  @Override
  public StreamObserver<StreamAccessLogsMessage> streamAccessLogs(
      StreamObserver<StreamAccessLogsResponse> answers) {
    // always true in a server
    var call = (ServerCallStreamObserver<StreamAccessLogsResponse>) answers;
    LogStream stream = new LogStream(this, call);
    listener.opened();
    call.setOnCancelHandler(stream::over);
    call.setOnCloseHandler(stream::over);
    return stream;
  }

  void closed() {
    listener.closed();
  }

  OutcomeListener sensed() {
    return sensed;
  }

  AccessLogListener listener() {
    return listener;
  }

  RecentIds recent() {
    return recent;
  }

  /** Returns whether an error may be logged: one in 10 s over all streams. */
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
