package io.throttlekit.service.server;

import static io.throttlekit.service.authz.CheckFixture.asking;
import static io.throttlekit.service.authz.CheckFixture.header;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.ListenableFuture;
import io.envoyproxy.envoy.service.auth.v3.AuthorizationGrpc;
import io.envoyproxy.envoy.service.auth.v3.CheckRequest;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.throttlekit.ManualTime;
import io.throttlekit.service.authz.CheckFixture;
import io.throttlekit.service.concurrency.StreamReport;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests Checks over a connection. */
class CheckTest {
  private static final String POLICY =
      """
      domain: d
      descriptors:
        - key: up
          concurrency: {min: 1, max: 1, queue: {}}
      """;

  private final CheckFixture authorizing = CheckFixture.by(POLICY, header("up"));
  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final GrpcServer server =
      new GrpcServer(
          Setup.loopback(),
          setup.service(),
          List.of(CallHandler.ofChecks(authorizing.frontEnd, null, new ManualTime(0)).definition()),
          setup.health,
          null,
          Duration.ofMillis(20));
  private ManagedChannel channel;

  CheckTest() {
    server.start();
    channel = Channels.to(server);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void areServedOnTheRateLimitPort() {
    var stub = AuthorizationGrpc.newBlockingStub(channel);
    CheckResponse admitted = stub.check(asking("up", "payments"));
    assertThat(admitted.getStatus().getCode()).isZero();
    assertThat(admitted.getDynamicMetadata().getFieldsMap()).containsKey("lease");
    assertThat(authorizing.gate.permits().size()).isEqualTo(1);
    assertThat(stub.check(asking("down", "x")).getDeniedResponse().getStatus().getCodeValue())
        .isEqualTo(403);
  }

  @Test
  void areUnimplementedWithoutConfiguration() {
    GrpcServer bare = setup.serve(Setup.loopback());
    ManagedChannel toIt = Channels.to(bare);
    try {
      assertCode(Status.Code.UNIMPLEMENTED, toIt, asking("up", "x"));
    } finally {
      toIt.shutdownNow();
      bare.stop();
    }
  }

  @Test
  void anUndecidableCheckIsAnError() {
    assertCode(
        Status.Code.INVALID_ARGUMENT,
        channel,
        CheckFixture.onRoute(java.util.Map.of("domain", "nope")));
  }

  @Test
  void aClientThatDisconnectsInTheQueueHoldsNoLease() {
    CheckResponse first =
        AuthorizationGrpc.newBlockingStub(channel).check(asking("up", "payments"));
    ListenableFuture<CheckResponse> waiting =
        AuthorizationGrpc.newFutureStub(channel).check(asking("up", "payments"));
    await().until(() -> queued() == 1);
    waiting.cancel(true);
    await().until(() -> queued() == 0);
    authorizing.gate.permits().streamDone(lease(first), StreamReport.NONE);
    assertThat(authorizing.gate.permits().size()).isZero();
    assertThat(authorizing.gated.leased).as("granted leases").hasValue(1);
    CheckResponse next = AuthorizationGrpc.newBlockingStub(channel).check(asking("up", "payments"));
    assertThat(next.getStatus().getCode()).isZero();
  }

  @Test
  void aQueuedCheckIsAdmittedWhenALeaseEnds() throws Exception {
    CheckResponse first =
        AuthorizationGrpc.newBlockingStub(channel).check(asking("up", "payments"));
    ListenableFuture<CheckResponse> waiting =
        AuthorizationGrpc.newFutureStub(channel).check(asking("up", "payments"));
    await().until(() -> queued() == 1);
    authorizing.gate.permits().streamDone(lease(first), StreamReport.NONE);
    assertThat(lease(waiting.get(5, TimeUnit.MINUTES))).isNotEmpty();
  }

  /**
   * Envoy's default timeout is 200 ms, sent as a header; half of that may be spent in the queue.
   */
  @Test
  void aQueuedCheckIsRefusedWithinEnvoysDefaultTimeout() throws Exception {
    CheckResponse first =
        AuthorizationGrpc.newBlockingStub(channel).check(asking("up", "payments"));
    assertThat(first.getStatus().getCode()).isZero();
    int before = authorizing.pending();
    Metadata timeout = new Metadata();
    timeout.put(
        Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER), "200");
    ListenableFuture<CheckResponse> waiting =
        AuthorizationGrpc.newFutureStub(channel)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(timeout))
            .check(asking("up", "payments"));
    await().until(() -> authorizing.pending() > before);
    authorizing.advance(99);
    assertThat(waiting.isDone()).isFalse();
    assertThat(queued()).isEqualTo(1);
    authorizing.advance(11); // timers may be 10 ms late
    CheckResponse refused = waiting.get(5, TimeUnit.MINUTES);
    assertThat(refused.getDeniedResponse().getStatus().getCodeValue()).isEqualTo(503);
    assertThat(refused.getDynamicMetadata().getFieldsMap()).doesNotContainKey("lease");
  }

  private int queued() {
    int[] queued = new int[1];
    authorizing.gate.limits().forEach((_, figures) -> queued[0] += figures.queued());
    return queued[0];
  }

  private static String lease(CheckResponse response) {
    return Objects.requireNonNull(response.getDynamicMetadata().getFieldsMap().get("lease"))
        .getStringValue();
  }

  private static void assertCode(Status.Code code, ManagedChannel channel, CheckRequest request) {
    assertThatThrownBy(() -> AuthorizationGrpc.newBlockingStub(channel).check(request))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            error -> assertThat(error.getStatus().getCode()).isEqualTo(code));
  }
}
