package io.throttlekit.service.concurrency.sensors;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterStats;
import io.envoyproxy.envoy.config.endpoint.v3.UpstreamLocalityStats;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsResponse;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.throttlekit.ManualTime;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.service.concurrency.sensors.Recorded.EndedStream;
import io.throttlekit.service.concurrency.sensors.Recorded.Report;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoadReportsTest {
  private static final int MANY_STREAMS = 20_000;

  private final ManualTime time = new ManualTime(0);
  private final Recorded recorded = new Recorded();
  private final LoadCounts counts = new LoadCounts();
  private final LoadReports reports =
      new LoadReports(recorded, counts, time, java.time.Duration.ofMillis(1_500));

  @Test
  void anEnvoyReceivesOnceWhatToReport() {
    FakeCall<LoadStatsResponse> call = new FakeCall<>();
    StreamObserver<LoadStatsRequest> stream = reports.streamLoadStats(call);
    assertThat(call.answers).as("the server does not send first").isEmpty();
    stream.onNext(from("edge-1"));
    stream.onNext(from("edge-1", up(3)));
    stream.onNext(from("edge-1", up(0)));
    assertThat(call.answers)
        .containsExactly(
            LoadStatsResponse.newBuilder()
                .setSendAllClusters(true)
                .setLoadReportingInterval(Duration.newBuilder().setSeconds(1).setNanos(500_000_000))
                .build());
  }

  @Test
  void requestsInProgressAreSummedOverLocalities() {
    time.advance(7);
    begun("edge-1")
        .onNext(
            from(
                "edge-1",
                ClusterStats.newBuilder()
                    .setClusterName("up")
                    .setTotalDroppedRequests(9)
                    .setLoadReportInterval(Duration.newBuilder().setSeconds(1).setNanos(5))
                    .addUpstreamLocalityStats(locality(5, 6, 7, 8))
                    .addUpstreamLocalityStats(locality(1, 2, 3, 4))
                    .build()));
    assertThat(recorded.reports)
        .containsExactly(
            new Report(
                "edge-1", 1, new ClusterLoad("up", 6, 8, 10, 12, 9, 1_000_000_005), 7_000_000));
  }

  @Test
  void anInvalidReportOfAnIdleClusterCountsAsNothingInProgress() {
    ClusterStats idle = ClusterStats.newBuilder().setClusterName("idle").build();
    begun("edge-1").onNext(from("edge-1", idle));
    assertThat(recorded.reports)
        .extracting(Report::load)
        .containsExactly(new ClusterLoad("idle", 0, 0, 0, 0, 0, 0));
  }

  @Test
  void theNodeIsThatOfTheFirstMessageWhateverLaterOnesName() {
    StreamObserver<LoadStatsRequest> stream = begun("edge-1");
    stream.onNext(LoadStatsRequest.newBuilder().addClusterStats(up(2)).build());
    assertThat(recorded.reports).extracting(Report::node).containsExactly("edge-1");
  }

  @Test
  void aReconnectedEnvoyContinuesReporting() {
    FakeCall<LoadStatsResponse> first = new FakeCall<>();
    StreamObserver<LoadStatsRequest> broken = reports.streamLoadStats(first);
    broken.onNext(from("edge-1", up(2)));
    first.cancel();
    assertThat(recorded.left).containsExactly(new EndedStream("edge-1", 1));
    begun("edge-1").onNext(from("edge-1", up(5)));
    assertThat(recorded.reports)
        .extracting(report -> report.load().inProgress())
        .containsExactly(2L, 5L);
    assertThat(counts.streams).isEqualTo(1);
  }

  @Test
  void streamsOfOneNodeDoNotAffectEachOther() {
    FakeCall<LoadStatsResponse> first = new FakeCall<>();
    StreamObserver<LoadStatsRequest> older = reports.streamLoadStats(first);
    older.onNext(from("edge-1", up(1)));
    FakeCall<LoadStatsResponse> second = new FakeCall<>();
    reports.streamLoadStats(second).onNext(from("edge-1", up(1 << 30)));
    older.onNext(from("edge-1", up(2)));
    assertThat(first.ended).isNull();
    second.cancel();
    older.onNext(from("edge-1", up(3)));
    assertThat(recorded.reports)
        .extracting(report -> report.stream() + ": " + report.load().inProgress())
        .containsExactly("1: 1", "2: 1073741824", "1: 2", "1: 3");
    assertThat(recorded.left).containsExactly(new EndedStream("edge-1", 2));
    assertThat(first.ended).isNull();
  }

  @Test
  void impossibleReportsAreCountedAndTheRestIsUsed() {
    ClusterStats.Builder backwards = up(1).toBuilder();
    backwards.getLoadReportIntervalBuilder().setSeconds(-1);
    ClusterStats.Builder endless = up(1).toBuilder();
    endless.getLoadReportIntervalBuilder().setSeconds(Long.MAX_VALUE);
    ClusterStats.Builder overfull = up(1).toBuilder();
    overfull.getLoadReportIntervalBuilder().setNanos(-7);
    begun("edge-1")
        .onNext(
            from(
                "edge-1",
                up(-1),
                up(Long.MAX_VALUE),
                up(1).toBuilder().setTotalDroppedRequests(-3).build(),
                up(1L << 48).toBuilder().addUpstreamLocalityStats(locality(1, 0, 0, 0)).build(),
                backwards.build(),
                endless.build(),
                overfull.build(),
                up(4)));
    assertThat(counts.impossible).isEqualTo(7);
    assertThat(recorded.reports)
        .extracting(report -> report.load().inProgress())
        .containsExactly(4L);
  }

  @Test
  void aMissingNodeIdIsRejected() {
    for (String name : List.of("", "x".repeat(257), "a\nb", "a\u2028b")) {
      FakeCall<LoadStatsResponse> call = new FakeCall<>();
      StreamObserver<LoadStatsRequest> stream = reports.streamLoadStats(call);
      stream.onNext(from(name, up(1)));
      assertThat(call.ended).extracting(Status::getCode).isEqualTo(Status.Code.INVALID_ARGUMENT);
      stream.onNext(from("edge-1", up(1)));
    }
    assertThat(recorded.reports).isEmpty();
    assertThat(recorded.left).isEmpty();
    assertThat(counts.rejected).isEqualTo(4);
    assertThat(counts.streams).isZero();
  }

  @Test
  void aNodeIdNotAllowedByTheCertificateIsRejected() throws Exception {
    Context bound = Context.current().withValue(NodeIds.KEY, "edge-1"::equals);
    FakeCall<LoadStatsResponse> call = new FakeCall<>();
    bound.call(() -> reports.streamLoadStats(call)).onNext(from("edge-2", up(1)));
    assertThat(call.ended).extracting(Status::getCode).isEqualTo(Status.Code.PERMISSION_DENIED);
    FakeCall<LoadStatsResponse> own = new FakeCall<>();
    bound.call(() -> reports.streamLoadStats(own)).onNext(from("edge-1", up(1)));
    assertThat(own.ended).isNull();
    assertThat(recorded.reports).extracting(Report::node).containsExactly("edge-1");
  }

  /** The server has the one bound, {@code sensors.max_streams}. */
  @Test
  void doesNotBoundStreamsItself() {
    for (int i = 0; i < MANY_STREAMS; i++) {
      begun("edge-" + i).onNext(from("edge-" + i, up(1)));
    }
    assertThat(recorded.reports).hasSize(MANY_STREAMS);
    assertThat(counts.streams).isEqualTo(MANY_STREAMS);
    assertThat(counts.rejected).isZero();
  }

  private StreamObserver<LoadStatsRequest> begun(String node) {
    FakeCall<LoadStatsResponse> call = new FakeCall<>();
    StreamObserver<LoadStatsRequest> stream = reports.streamLoadStats(call);
    stream.onNext(from(node));
    assertThat(call.ended).isNull();
    return stream;
  }

  private static LoadStatsRequest from(String node, ClusterStats... stats) {
    return LoadStatsRequest.newBuilder()
        .setNode(Node.newBuilder().setId(node))
        .addAllClusterStats(List.of(stats))
        .build();
  }

  private static ClusterStats up(long inProgress) {
    return ClusterStats.newBuilder()
        .setClusterName("up")
        .addUpstreamLocalityStats(locality(inProgress, 0, 0, 0))
        .build();
  }

  private static UpstreamLocalityStats locality(
      long inProgress, long issued, long succeeded, long failed) {
    return UpstreamLocalityStats.newBuilder()
        .setTotalRequestsInProgress(inProgress)
        .setTotalIssuedRequests(issued)
        .setTotalSuccessfulRequests(succeeded)
        .setTotalErrorRequests(failed)
        .build();
  }
}
