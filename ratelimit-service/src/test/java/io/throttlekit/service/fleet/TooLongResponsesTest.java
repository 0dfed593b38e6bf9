package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc.AggregatedDiscoveryServiceImplBase;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.service.Logged;
import io.throttlekit.testkit.envoy.ChildProcess;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A control plane whose responses are longer than is permitted, and the log of the process. */
class TooLongResponsesTest {
  private static final int ATTEMPTS = 5;

  /** Lines of an attempt: that there is a connection, and why it ended. */
  private static final int LINES = 2;

  private static final int LINES_OF_START = 20;

  @TempDir private Path folder;
  private final AtomicInteger responses = new AtomicInteger();

  @Test
  void causeAFewLinesOfEachAttempt() throws Exception {
    Server controlPlane =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new TooLong())
            .build()
            .start();
    try (Logged _ = Logged.by("io.grpc.netty")) { // of the connections that are closed
      assertLines(controlPlane.getPort());
    } finally {
      controlPlane.shutdownNow();
    }
  }

  private void assertLines(int controlPlane) throws Exception {
    List<String> command = new ArrayList<>(ServiceJvm.command());
    command.addAll(List.of("serve", "--grpc-port=0", "--http-port=0", "--debug-port=0"));
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_POLICIES_XDS_SERVER", "127.0.0.1:" + controlPlane,
            "THROTTLEKIT_POLICIES_XDS_CONNECT_RETRY_INTERVAL", "100ms",
            "THROTTLEKIT_POLICIES_XDS_BACKOFF_INITIAL", "100ms",
            "THROTTLEKIT_POLICIES_XDS_BACKOFF_MAX", "100ms",
            "THROTTLEKIT_POLICIES_REQUIRE_AT_START", "false");
    try (ChildProcess process = ChildProcess.start(command, environment, folder.resolve("log"))) {
      await().until(() -> responses.get() > ATTEMPTS);
      await().until(() -> process.log().contains("longer than is permitted here"));
      List<String> lines = process.log().lines().toList();
      assertThat(lines).hasSizeLessThanOrEqualTo(LINES_OF_START + LINES * responses.get());
    }
  }

  private final class TooLong extends AggregatedDiscoveryServiceImplBase {
    private final DiscoveryResponse response =
        DiscoveryResponse.newBuilder()
            .addResources(Any.newBuilder().setValue(ByteString.copyFrom(new byte[5 << 20])))
            .build();

    @Override
    public StreamObserver<DiscoveryRequest> streamAggregatedResources(
        StreamObserver<DiscoveryResponse> answers) {
      responses.incrementAndGet();
      answers.onNext(response);
      return new StreamObserver<>() {
        @Override
        public void onNext(DiscoveryRequest request) {}

        @Override
        public void onError(Throwable cause) {}

        @Override
        public void onCompleted() {}
      };
    }
  }
}
