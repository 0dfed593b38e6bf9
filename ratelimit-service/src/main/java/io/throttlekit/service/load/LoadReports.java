package io.throttlekit.service.load;

import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc.LoadReportingServiceImplBase;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.service.sensor.Sensed;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Asks Envoys for the load of all their clusters: the service {@code
 * envoy.service.load_stats.v3.LoadReportingService}.
 *
 * <p>What is in progress is exact at the moment of a report, but for requests that wait in Envoy
 * for a connection, which are in no report. An Envoy comes back about 5 s after its stream broke;
 * its first report then counts what happened meanwhile. Streams of one node are heard beside each
 * other, so that none can mute another. Messages are not checked against the rules of their
 * definition, which Envoy breaks: a cluster without traffic has no locality.
 *
 * <p>Thread-safe; nothing here waits, and a direct executor will do.
 */
public final class LoadReports extends LoadReportingServiceImplBase {
  private static final int MOST_STREAMS = 10_000;

  private final Sensed sensed;
  private final LoadReportListener listener;
  private final TimeSource time;
  private final LoadStatsResponse wanted;
  private final int mostStreams;
  private final AtomicInteger streams = new AtomicInteger();
  private final AtomicLong numbers = new AtomicLong();

  /**
   * Tells {@code sensed} of every report.
   *
   * @param interval how often an Envoy is to report, from 1 ms
   */
  public LoadReports(
      Sensed sensed, LoadReportListener listener, TimeSource time, Duration interval) {
    this(sensed, listener, time, interval, MOST_STREAMS);
  }

  LoadReports(
      Sensed sensed,
      LoadReportListener listener,
      TimeSource time,
      Duration interval,
      int mostStreams) {
    this.sensed = sensed;
    this.listener = listener;
    this.time = time;
    this.mostStreams = mostStreams;
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
    var call = (ServerCallStreamObserver<LoadStatsResponse>) answers; // in a server it is
    LoadStream stream = new LoadStream(this, call, numbers.incrementAndGet());
    listener.opened();
    if (streams.incrementAndGet() > mostStreams) {
      stream.turnAway(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "no more than " + mostStreams + " load reports at once"));
    } else {
      call.setOnCancelHandler(stream::over);
      call.setOnCloseHandler(stream::over);
    }
    return stream;
  }

  LoadStatsResponse wanted() {
    return wanted;
  }

  Sensed sensed() {
    return sensed;
  }

  LoadReportListener listener() {
    return listener;
  }

  long nowNanos() {
    return time.monotonicNanos();
  }

  /** A stream has ended; {@code node} is empty where it never named one. */
  void closed(String node, long stream) {
    streams.decrementAndGet();
    listener.closed();
    if (!node.isEmpty()) {
      sensed.left(node, stream);
    }
  }
}
