package io.throttlekit.service.concurrency.sensors;

import io.envoyproxy.envoy.config.endpoint.v3.ClusterStats;
import io.envoyproxy.envoy.config.endpoint.v3.UpstreamLocalityStats;
import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc.LoadReportingServiceImplBase;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

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
  /** Bound above every real count, for which sums do not overflow. */
  private static final long MAX_COUNT = 1L << 48;

  private final LoadListener sensed;
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
      LoadListener sensed, LoadReportListener listener, TimeSource time, Duration interval) {
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
    return new LoadStream(answers, numbers.incrementAndGet());
  }

  /**
   * One Envoy's stream: it receives the Envoy's node id, sends the reporting interval, and receives
   * reports.
   */
  private final class LoadStream extends ReportStream<LoadStatsRequest, LoadStatsResponse> {
    private final long number;

    /**
     * Creates a stream that has begun.
     *
     * @param number unique to this stream
     */
    LoadStream(StreamObserver<LoadStatsResponse> answers, long number) {
      super(answers, listener);
      this.number = number;
    }

    @Override
    void received(LoadStatsRequest message) {
      if (node.isEmpty()) {
        String named = message.getNode().getId();
        Status rejection = allowed.rejection(named);
        if (rejection != null) {
          reject(rejection);
          return;
        }
        node = named;
        answer(wanted);
      }
      if (message.getClusterStatsCount() == 0) {
        return;
      }
      long arrived = time.monotonicNanos();
      listener.reported();
      for (ClusterStats stats : message.getClusterStatsList()) {
        ClusterLoad load = load(stats);
        if (load == null) {
          listener.impossible();
        } else {
          sensed.reported(node, number, load, arrived);
        }
      }
    }

    @Override
    void ended() {
      if (!node.isEmpty()) {
        sensed.left(node, number);
      }
    }

    /** Returns the load of a cluster; null when its values are impossible. */
    private static @Nullable ClusterLoad load(ClusterStats stats) {
      long inProgress = 0;
      long issued = 0;
      long succeeded = 0;
      long failed = 0;
      for (UpstreamLocalityStats each : stats.getUpstreamLocalityStatsList()) {
        inProgress = plus(inProgress, each.getTotalRequestsInProgress());
        issued = plus(issued, each.getTotalIssuedRequests());
        succeeded = plus(succeeded, each.getTotalSuccessfulRequests());
        failed = plus(failed, each.getTotalErrorRequests());
      }
      long dropped = plus(0, stats.getTotalDroppedRequests());
      long seconds = stats.getLoadReportInterval().getSeconds();
      int nanos = stats.getLoadReportInterval().getNanos();
      boolean possible =
          (inProgress | issued | succeeded | failed | dropped) >= 0
              && seconds >= 0
              && seconds < MAX_COUNT / 1_000_000_000
              && nanos >= 0
              && nanos < 1_000_000_000;
      return possible
          ? new ClusterLoad(
              stats.getClusterName(),
              inProgress,
              issued,
              succeeded,
              failed,
              dropped,
              seconds * 1_000_000_000 + nanos)
          : null;
    }

    /**
     * Returns the sum, or −1 for impossible values; unsigned numbers from 2^63 are negative here.
     */
    private static long plus(long sum, long more) {
      return sum < 0 || more < 0 || more > MAX_COUNT - sum ? -1 : sum + more;
    }
  }
}
