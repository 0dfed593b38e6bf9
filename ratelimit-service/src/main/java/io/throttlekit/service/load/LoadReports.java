package io.throttlekit.service.load;

import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc.LoadReportingServiceImplBase;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.service.sensor.OutcomeListener;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests the load of all clusters from Envoys: the service {@code
 * envoy.service.load_stats.v3.LoadReportingService}.
 *
 * <p>The number of requests in progress is exact at the time of a report, except for requests that
 * wait in Envoy for a connection, which are in no report. An Envoy reconnects about 5 s after its
 * stream broke; its first report then counts what happened in between. Concurrent streams of one
 * node are all read, so that none can suppress another. Messages are not validated against the
 * rules of their definition, which Envoy breaks: a cluster without traffic has no locality. The
 * server bounds the number of streams.
 *
 * <p>Thread-safe; never blocks, and a direct executor is sufficient.
 */
public final class LoadReports extends LoadReportingServiceImplBase {
  private final OutcomeListener sensed;
  private final LoadReportListener listener;
  private final TimeSource time;
  private final LoadStatsResponse wanted;
  private final AtomicLong numbers = new AtomicLong();

  /**
   * Creates a service that passes every report to {@code sensed}.
   *
   * @param interval reporting interval of Envoys, from 1 ms
   */
  public LoadReports(
      OutcomeListener sensed, LoadReportListener listener, TimeSource time, Duration interval) {
    this.sensed = sensed;
    this.listener = listener;
    this.time = time;
    this.wanted =
        LoadStatsResponse.newBuilder()
            .setSendAllClusters(true)
            .setLoadReportingInterval(
                com.google.protobuf.Duration.newBuilder()
                    .setSeconds(interval.getSeconds())
                    .setNanos(interval.getNano()))
            .build();
  }

  @Override
  public StreamObserver<LoadStatsRequest> streamLoadStats(
      StreamObserver<LoadStatsResponse> answers) {
    // Guaranteed by gRPC on the server side.
    var call = (ServerCallStreamObserver<LoadStatsResponse>) answers;
    LoadStream stream = new LoadStream(this, call, numbers.incrementAndGet());
    listener.opened();
    call.setOnCancelHandler(stream::over);
    call.setOnCloseHandler(stream::over);
    return stream;
  }

  LoadStatsResponse wanted() {
    return wanted;
  }

  OutcomeListener sensed() {
    return sensed;
  }

  LoadReportListener listener() {
    return listener;
  }

  long nowNanos() {
    return time.monotonicNanos();
  }

  /** Records the end of a stream; {@code node} is empty where it named none. */
  void closed(String node, long stream) {
    listener.closed();
    if (!node.isEmpty()) {
      sensed.left(node, stream);
    }
  }
}
