package io.throttlekit.bench.server;

import com.google.protobuf.Message;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc.AccessLogServiceImplBase;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc.LoadReportingServiceImplBase;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsResponse;
import io.grpc.BindableService;
import io.grpc.stub.StreamObserver;
import java.util.List;

/** Parses access logs and load reports, and ignores them. */
final class NoOpSensors {
  private NoOpSensors() {}

  static List<BindableService> services() {
    return List.of(new Logs(), new Reports());
  }

  private static final class Logs extends AccessLogServiceImplBase {
    @Override
    public StreamObserver<StreamAccessLogsMessage> streamAccessLogs(
        StreamObserver<StreamAccessLogsResponse> answers) {
      return new Ignoring<>(() -> {
        // A unary response is required.
        answers.onNext(StreamAccessLogsResponse.getDefaultInstance());
        answers.onCompleted();
      });
    }
  }

  private static final class Reports extends LoadReportingServiceImplBase {
    @Override
    public StreamObserver<LoadStatsRequest> streamLoadStats(
        StreamObserver<LoadStatsResponse> answers) {
      return new Ignoring<>(answers::onCompleted);
    }
  }

  private record Ignoring<Q extends Message>(Runnable end) implements StreamObserver<Q> {
    @Override
    public void onNext(Q message) {}

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {
      end.run();
    }
  }
}
