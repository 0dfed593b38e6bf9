package io.throttlekit.bench.chaos.fault;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterStats;
import io.envoyproxy.envoy.config.endpoint.v3.UpstreamLocalityStats;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.traffic.Load;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * Clients that pretend to be Envoys: they toggle the subscription to their share of a limit, report
 * a billion requests in progress, and send malformed logs, as fast as the process accepts them up
 * to a bound.
 *
 * @param connections from 1
 */
public record HostileStreams(int process, int connections) implements Fault {
  private static final String RUNTIME = "type.googleapis.com/envoy.service.runtime.v3.Runtime";

  /** Name of the runtime resource in the {@code rtds_layer} of the example bootstraps. */
  private static final String RESOURCE = "concurrency_limits";

  // At most 10 messages in 5 ms for each stream: 2,000/s.
  private static final int BURST = 10;
  private static final long PAUSE_NANOS = 5_000_000;
  private static final long IN_PROGRESS = 1L << 30; // a billion, beyond any real Envoy

  @Override
  public String kind() {
    return "hostile streams";
  }

  @Override
  public int region() {
    return ChaosFleet.regionOf(process);
  }

  @Override
  public Running begin(Stage stage) {
    List<ManagedChannel> channels = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    LongAdder sent = new LongAdder();
    LongAdder shares = new LongAdder();
    for (int connection = 0; connection < connections; connection++) {
      ManagedChannel channel = Load.channel(stage.fleet().node(process).sensorsPort());
      channels.add(channel);
      Node node = Node.newBuilder().setId("invented-" + connection).setCluster("edge").build();
      threads.add(
          flood(
              AggregatedDiscoveryServiceGrpc.newStub(channel)::streamAggregatedResources,
              place -> subscription(node, place),
              sent,
              shares));
      threads.add(
          flood(
              LoadReportingServiceGrpc.newStub(channel)::streamLoadStats,
              _ -> loadReport(node),
              sent,
              new LongAdder()));
      threads.add(
          flood(
              AccessLogServiceGrpc.newStub(channel)::streamAccessLogs,
              place -> log(node, place),
              sent,
              new LongAdder()));
    }
    return new Running() {
      @Override
      public void end() throws InterruptedException {
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
          thread.join();
        }
        channels.forEach(ManagedChannel::shutdownNow);
      }

      @Override
      public String extent() {
        return sent.sum() + " messages taken, " + shares.sum() + " shares received";
      }
    };
  }

  private static <Q, A> Thread flood(
      Function<StreamObserver<A>, StreamObserver<Q>> open,
      IntFunction<Q> message,
      LongAdder sent,
      LongAdder answers) {
    return Thread.startVirtualThread(() -> {
      Counted<A> counted = new Counted<>(answers);
      ClientCallStreamObserver<Q> stream = (ClientCallStreamObserver<Q>) open.apply(counted);
      int place = 0;
      while (!Thread.currentThread().isInterrupted()) {
        if (counted.ended) {
          counted = new Counted<>(answers);
          stream = (ClientCallStreamObserver<Q>) open.apply(counted);
        }
        for (int i = 0; i < BURST && stream.isReady(); i++) {
          stream.onNext(message.apply(place++));
          sent.increment();
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    });
  }

  private static DiscoveryRequest subscription(Node node, int place) {
    DiscoveryRequest.Builder request =
        DiscoveryRequest.newBuilder().setNode(node).setTypeUrl(RUNTIME).setVersionInfo("" + place);
    // Three, as messages are read in even numbers: each round of the server sees another state.
    return place % 3 != 0 ? request.addResourceNames(RESOURCE).build() : request.build();
  }

  private static LoadStatsRequest loadReport(Node node) {
    UpstreamLocalityStats stats =
        UpstreamLocalityStats.newBuilder().setTotalRequestsInProgress(IN_PROGRESS).build();
    return LoadStatsRequest.newBuilder()
        .setNode(node)
        .addClusterStats(
            ClusterStats.newBuilder().setClusterName("upstream").addUpstreamLocalityStats(stats))
        .build();
  }

  private static StreamAccessLogsMessage log(Node node, int place) {
    UnknownFieldSet.Field nonsense =
        UnknownFieldSet.Field.newBuilder()
            .addLengthDelimited(ByteString.copyFromUtf8("?".repeat(place % 1_000)))
            .build();
    return StreamAccessLogsMessage.newBuilder()
        .setIdentifier(
            StreamAccessLogsMessage.Identifier.newBuilder().setNode(node).setLogName("?"))
        .setUnknownFields(UnknownFieldSet.newBuilder().addField(1_000, nonsense).build())
        .build();
  }

  private static final class Counted<A> implements StreamObserver<A> {
    private final LongAdder answers;
    private volatile boolean ended;

    Counted(LongAdder answers) {
      this.answers = answers;
    }

    @Override
    public void onNext(A value) {
      answers.increment();
    }

    @Override
    public void onError(Throwable error) {
      ended = true; // rejected, or the process has ended
    }

    @Override
    public void onCompleted() {
      ended = true;
    }
  }
}
