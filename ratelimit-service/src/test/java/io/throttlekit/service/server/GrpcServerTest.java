package io.throttlekit.service.server;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GrpcServerTest {
  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final GrpcServer server = setup.serve(Setup.loopback());
  private final ManagedChannel channel = Channels.to(server);

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void of200ConcurrentCallsExactlyTheLimitPasses() throws Exception {
    var stub = RateLimitServiceGrpc.newFutureStub(channel);
    var calls = new ArrayList<java.util.concurrent.Future<RateLimitResponse>>();
    for (int i = 0; i < 200; i++) {
      calls.add(stub.shouldRateLimit(x(entries("hundred", "a"))));
    }
    Map<Code, Integer> codes = new HashMap<>();
    for (var call : calls) {
      codes.merge(call.get().getOverallCode(), 1, Integer::sum);
    }
    assertThat(codes).isEqualTo(Map.of(Code.OK, 100, Code.OVER_LIMIT, 100));
  }

  @Test
  void aRequestThatCannotBeAnsweredIsAnInvalidArgument() {
    assertError(
        RateLimitRequest.getDefaultInstance(),
        Status.Code.INVALID_ARGUMENT,
        "rate limit domain must not be empty");
  }

  @Test
  void theServiceIsUnavailableUntilPoliciesAreLoaded() {
    var policies = setup.book.getAndSet(null);
    assertError(
        x(entries("one", "a")), Status.Code.UNAVAILABLE, "no rate limit configuration loaded");
    setup.book.set(policies);
    assertThat(callService(x(entries("one", "a"))).getOverallCode()).isEqualTo(Code.OK);
  }

  @Test
  void malformedBytesAreAnInvalidArgumentSeed42() {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(42);
    byte[] request = x(entries("one", "a"), entries("two", "b")).toByteArray();
    int refused = 0;
    for (int i = 0; i < 300; i++) {
      byte[] bytes = request.clone();
      for (int n = 0; n < 3; n++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      try {
        assertThat(raw(bytes).getOverallCode()).isNotEqualTo(Code.UNKNOWN);
      } catch (StatusRuntimeException e) {
        assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        refused++;
      }
    }
    assertThat(refused).isBetween(50, 300);
    assertThatThrownBy(() -> raw(new byte[] {(byte) 0x0a, (byte) 0xff, 1, 2}))
        .hasMessage("INVALID_ARGUMENT: the request is not a valid protobuf message");
    assertThat(StatsLines.of(setup.metrics))
        .as("those that failed are counted too")
        .contains("ratelimit_server.ShouldRateLimit.total_requests: 301");
    assertThat(callService(x(entries("hundred", "alive"))).getOverallCode()).isEqualTo(Code.OK);
  }

  @Test
  void missingAndSecondMessagesAreErrorsWithoutCharge() {
    assertThat(streamed(0)).as("none").startsWith("INVALID_ARGUMENT").contains("has none");
    assertThat(streamed(2)).as("two").startsWith("CANCELLED");
    assertThat(streamed(1)).isEqualTo("OK");
    assertThat(callService(x(entries("hundred", "streamed"))).getStatuses(0).getLimitRemaining())
        .isEqualTo(98);
  }

  @Test
  void aTooLongMessageIsRejected() {
    String large = "v".repeat(300 * 1024);
    assertThatThrownBy(() -> callService(x(entries("one", large))))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("RESOURCE_EXHAUSTED");
    assertThat(callService(x(entries("one", "a"))).getOverallCode()).isEqualTo(Code.OK);
  }

  @Test
  void aCallerThatLeavesDoesNotAffectOthers() {
    var call =
        channel.newCall(RateLimitServiceGrpc.getShouldRateLimitMethod(), CallOptions.DEFAULT);
    call.start(new io.grpc.ClientCall.Listener<>() {}, new io.grpc.Metadata());
    call.request(1);
    call.sendMessage(x(entries("one", "gone")));
    call.cancel("changed my mind", null);
    assertThat(callService(x(entries("one", "gone"))).getOverallCode()).isEqualTo(Code.OK);
  }

  @Test
  void anAddressInUseIsNamedWithTheReason() {
    GrpcConfig free = Setup.loopback();
    GrpcConfig config =
        new GrpcConfig(
            "127.0.0.1",
            server.port(),
            null,
            null,
            free.connectionAge(),
            free.keepAlive(),
            free.limits(),
            1,
            free.drain(),
            false);
    assertThatThrownBy(() -> new Setup(Book.X, Setup.NATIVE, Setup.BARE).serve(config))
        .isInstanceOf(ListenException.class)
        .hasMessage(
            "cannot listen for gRPC on 127.0.0.1:" + server.port() + ": Address already in use");
  }

  @Test
  void theAddressNamesTheChosenPort() {
    assertThat(server.port()).isPositive();
    assertThat(server.address()).isEqualTo("127.0.0.1:" + server.port());
  }

  private void assertError(RateLimitRequest request, Status.Code code, String description) {
    assertThatThrownBy(() -> callService(request))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> {
              assertThat(e.getStatus().getCode()).isEqualTo(code);
              assertThat(e.getStatus().getDescription()).isEqualTo(description);
            });
  }

  private RateLimitResponse callService(RateLimitRequest request) {
    return RateLimitServiceGrpc.newBlockingStub(channel).shouldRateLimit(request);
  }

  private RateLimitResponse raw(byte[] request) {
    MethodDescriptor<byte[], RateLimitResponse> method =
        RateLimitServiceGrpc.getShouldRateLimitMethod().toBuilder(
                new Unchanged(),
                RateLimitServiceGrpc.getShouldRateLimitMethod().getResponseMarshaller())
            .build();
    return ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, request);
  }

  /** Returns the status of a call with so many messages. */
  private String streamed(int messages) {
    var method =
        RateLimitServiceGrpc.getShouldRateLimitMethod().toBuilder()
            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
            .build();
    CompletableFuture<String> status = new CompletableFuture<>();
    StreamObserver<RateLimitRequest> requests =
        ClientCalls.asyncBidiStreamingCall(
            channel.newCall(method, CallOptions.DEFAULT), new Ending(status));
    for (int i = 0; i < messages; i++) {
      requests.onNext(x(entries("hundred", "streamed")));
    }
    requests.onCompleted();
    try {
      return status.get();
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  private static final class Unchanged implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      throw new UnsupportedOperationException("only requests are sent unchanged");
    }
  }

  private record Ending(CompletableFuture<String> status)
      implements StreamObserver<RateLimitResponse> {
    @Override
    public void onNext(RateLimitResponse response) {}

    @Override
    public void onError(Throwable t) {
      Status ended = Status.fromThrowable(t);
      status.complete(ended.getCode() + " " + ended.getDescription());
    }

    @Override
    public void onCompleted() {
      status.complete("OK");
    }
  }
}
