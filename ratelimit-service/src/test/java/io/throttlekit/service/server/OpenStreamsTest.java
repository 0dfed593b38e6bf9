package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.Recorded;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.ServerMetrics;
import io.throttlekit.service.telemetry.Telemetry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class OpenStreamsTest {
  @Test
  void aStreamStartedDuringTheDrainIsEndedAtOnce() {
    OpenStreams streams = new OpenStreams(3);
    streams.end();
    assertThat(begun(streams, HealthGrpc.getWatchMethod()))
        .extracting(Status::getCode)
        .containsExactly(Status.Code.UNAVAILABLE);
    assertThat(begun(streams, HealthGrpc.getCheckMethod())).isEmpty();
  }

  @Test
  void aStreamStartedBeforeTheDrainIsEndedOnce() {
    OpenStreams streams = new OpenStreams(3);
    List<Status> ended = begun(streams, HealthGrpc.getWatchMethod());
    assertThat(ended).isEmpty();
    streams.end();
    streams.end();
    assertThat(ended).hasSize(1);
  }

  @Test
  void streamsButNotCallsBeyondTheMaximumAreRejected() {
    OpenStreams streams = new OpenStreams(2);
    assertThat(begun(streams, HealthGrpc.getWatchMethod())).isEmpty();
    assertThat(begun(streams, HealthGrpc.getWatchMethod())).isEmpty();
    assertThat(streams.refused()).isZero();
    assertThat(begun(streams, HealthGrpc.getWatchMethod()))
        .extracting(Status::getCode)
        .containsExactly(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(begun(streams, HealthGrpc.getCheckMethod())).isEmpty();
    assertThat(streams.refused()).isEqualTo(1);
  }

  @Test
  void aRejectedSensorStreamIsCountedOnceByTheServer() throws IOException {
    try (Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry())) {
      AccessLogs logs =
          new AccessLogs(
              new Recorded(),
              new AccessLogMetrics(telemetry.meter(), () -> true),
              TimeSource.system(),
              1_000);
      GrpcServer server = GrpcServer.ofStreams(Setup.loopback(), List.of(logs.bindService()), 1);
      ServerMetrics metrics = new ServerMetrics(telemetry.meter(), "throttlekit_sensors_", server);
      server.start();
      ManagedChannel channel = Channels.to(server);
      try {
        CompletableFuture<Status> first = new CompletableFuture<>();
        CompletableFuture<Status> second = new CompletableFuture<>();
        AccessLogServiceGrpc.AccessLogServiceStub stub = AccessLogServiceGrpc.newStub(channel);
        var open = stub.streamAccessLogs(new Ending(first));
        // a channel that connects starts its streams in any order
        await().until(() -> lines(telemetry).contains("throttlekit_access_log_streams 1.0"));
        var _ = stub.streamAccessLogs(new Ending(second));
        assertThat(second.join().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(lines(telemetry))
            .contains(
                "throttlekit_sensors_refused_streams_total 1.0",
                "throttlekit_access_log_refused_streams_total 0.0",
                "throttlekit_access_log_streams 1.0");
        open.onCompleted();
        assertThat(first.join().getCode()).isEqualTo(Status.Code.OK);
        metrics.close();
        assertThat(lines(telemetry)).noneMatch(line -> line.startsWith("throttlekit_sensors_"));
      } finally {
        channel.shutdownNow();
        server.stop();
      }
    }
  }

  /** Completes with the status of a stream. */
  private record Ending(CompletableFuture<Status> end)
      implements StreamObserver<StreamAccessLogsResponse> {
    @Override
    public void onNext(StreamAccessLogsResponse answer) {}

    @Override
    public void onError(Throwable cause) {
      end.complete(Status.fromThrowable(cause));
    }

    @Override
    public void onCompleted() {
      end.complete(Status.OK);
    }
  }

  private static List<String> lines(Telemetry telemetry) throws IOException {
    return Objects.requireNonNull(telemetry.scrape()).page(null).body().lines().toList();
  }

  private static <Q, A> List<Status> begun(OpenStreams streams, MethodDescriptor<Q, A> method) {
    Call<Q, A> call = new Call<>(method);
    var _ = streams.interceptCall(call, new Metadata(), (_, _) -> new ServerCall.Listener<Q>() {});
    return call.ended;
  }

  private static final class Call<Q, A> extends ServerCall<Q, A> {
    final List<Status> ended = new ArrayList<>();
    private final MethodDescriptor<Q, A> method;

    Call(MethodDescriptor<Q, A> method) {
      this.method = method;
    }

    @Override
    public void close(Status status, Metadata trailers) {
      ended.add(status);
    }

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(A message) {}

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<Q, A> getMethodDescriptor() {
      return method;
    }
  }
}
