package io.throttlekit.envoy.filter;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.Status;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.config.core.v3.TypedExtensionConfig;
import io.envoyproxy.envoy.extensions.filters.http.ratelimit.v3.RateLimit;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.extension.v3.ExtensionConfigDiscoveryServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.descriptors.policy.PolicyBook;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** All calls are executed on the thread of the test. */
class FilterServerTest {
  private static final String USER =
      "  - {key: user, rate_limit: {unit: day, requests_per_unit: 1}}\n";

  private final Deque<Runnable> turns = new ArrayDeque<>();
  private final FilterServer server = newServer();
  private final List<DiscoveryResponse> received = new ArrayList<>();
  private @Nullable Throwable failure;
  private final Server grpc =
      InProcessServerBuilder.forName("filters").directExecutor().addService(server).build();
  private final ManagedChannel channel =
      InProcessChannelBuilder.forName("filters").directExecutor().build();

  @BeforeEach
  void start() throws IOException {
    grpc.start();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    grpc.shutdownNow();
  }

  @Test
  void anEnvoyReceivesTheFilterOfItsDomain() throws Exception {
    server.follow(Policies.ofDescriptors(USER));
    StreamObserver<DiscoveryRequest> envoy = connect();
    envoy.onNext(request("throttlekit/d"));
    assertThat(received).hasSize(1);
    RateLimit filter = filter(received.getFirst());
    assertThat(filter.getDomain()).isEqualTo("d");
    assertThat(filter.getTimeout())
        .isEqualTo(com.google.protobuf.Duration.newBuilder().setNanos(250_000_000).build());
    assertThat(filter.getFailureModeDeny()).isTrue();
    assertThat(filter.getRateLimitService().getGrpcService().getEnvoyGrpc().getClusterName())
        .isEqualTo("limits");
    assertThat(rateLimits(filter)).isEqualTo(1);
  }

  @Test
  void aReloadIsSentOnlyIfItChangesTheFilter() throws Exception {
    server.follow(Policies.ofDescriptors(USER));
    StreamObserver<DiscoveryRequest> envoy = connect();
    envoy.onNext(request("throttlekit/d"));
    envoy.onNext(acknowledgement(received.getFirst()).build());
    server.follow(Policies.ofDescriptors(USER.replace("1}", "2}")));
    assertThat(received).as("another limit, the same actions").hasSize(1);
    server.follow(Policies.ofDescriptors(USER + USER.replace("user", "remote_address")));
    assertThat(received).hasSize(2);
    assertThat(rateLimits(filter(received.getLast()))).isEqualTo(2);
    server.follow(PolicyBook.of(Map.of()));
    assertThat(rateLimits(filter(received.getLast())))
        .as("a filter without actions ends the limits of removed policies")
        .isZero();
  }

  @Test
  void aRejectedFilterIsNotSentAgainBeforeItChanges() {
    server.follow(Policies.ofDescriptors(USER));
    StreamObserver<DiscoveryRequest> envoy = connect();
    envoy.onNext(request("throttlekit/d"));
    for (int i = 0; i < 100; i++) {
      envoy.onNext(
          acknowledgement(received.getLast())
              .setErrorDetail(Status.newBuilder().setMessage("no\nsuch\u2028field"))
              .build());
    }
    assertThat(received).hasSize(1);
    assertThat(server.figures()).as("one rejection").isEqualTo(new FilterFigures(1, 1, 1, 1));
    server.follow(Policies.ofDescriptors(USER.replace("user", "org")));
    assertThat(received).hasSize(2);
    assertThat(server.figures()).isEqualTo(new FilterFigures(1, 0, 2, 1));
  }

  @Test
  void anEnvoyThatHasLeftRejectsNothingAnyMore() {
    server.follow(Policies.ofDescriptors(USER));
    StreamObserver<DiscoveryRequest> envoy = connect();
    envoy.onNext(rejection("before a filter was sent").clearResourceNames().build());
    assertThat(server.figures()).isEqualTo(new FilterFigures(1, 0, 0, 0));
    envoy.onNext(request("throttlekit/d"));
    envoy.onNext(rejection("no such field").build());
    assertThat(server.figures()).isEqualTo(new FilterFigures(1, 1, 1, 1));
    envoy.onCompleted();
    assertThat(server.figures()).isEqualTo(new FilterFigures(0, 0, 1, 1));
  }

  @Test
  void anEnvoyThatReadsNothingIsSentOnlyTheNewestFilter() throws Exception {
    AtomicReference<ClientCallStreamObserver<DiscoveryRequest>> call = new AtomicReference<>();
    server.follow(Policies.ofDescriptors(USER));
    connect(call).onNext(request("throttlekit/d"));
    server.follow(Policies.ofDescriptors(USER.replace("user", "org")));
    server.follow(Policies.ofDescriptors(USER + USER.replace("user", "org")));
    assertThat(received).isEmpty();
    call.get().request(9);
    assertThat(received).hasSize(1);
    assertThat(rateLimits(filter(received.getFirst()))).isEqualTo(2);
  }

  @Test
  void theVersionIsThatOfTheContent() {
    server.follow(Policies.ofDescriptors(USER));
    connect().onNext(request("throttlekit/d"));
    FilterServer other = newServer();
    other.follow(Policies.ofDescriptors(USER));
    assertThat(received.getFirst().getVersionInfo())
        .isEqualTo(FilterServer.version(other.filters(Set.of("throttlekit/d"))))
        .isNotEqualTo(FilterServer.version(other.filters(Set.of("throttlekit/e"))));
  }

  @Test
  void otherResourcesAreNotAnswered() {
    server.follow(Policies.ofDescriptors(USER));
    StreamObserver<DiscoveryRequest> envoy = connect();
    envoy.onNext(request("d", "throttlekit/", "throttlekit/" + "x".repeat(300), "throttlekit/\n"));
    envoy.onNext(request("throttlekit/d").toBuilder().setTypeUrl("type.googleapis.com/x").build());
    assertThat(received).isEmpty();
  }

  @Test
  void anEnvoyHasABoundedNumberOfFilters() {
    String[] names = new String[10_000];
    for (int i = 0; i < names.length; i++) {
      names[i] = "throttlekit/" + i;
    }
    connect().onNext(request(names));
    assertThat(received.getFirst().getResourcesCount()).isEqualTo(FilterStream.MAX_NAMES);
  }

  @Test
  void anEnvoyWithoutANodeIdIsRejected() {
    StreamObserver<DiscoveryRequest> envoy = connect();
    envoy.onNext(request("throttlekit/d").toBuilder().clearNode().build());
    assertThat(io.grpc.Status.fromThrowable(failure).getCode())
        .isEqualTo(io.grpc.Status.Code.INVALID_ARGUMENT);
  }

  @Test
  void aFloodIsAnsweredInTurnsInWhichOthersAreAnsweredToo() {
    server.follow(Policies.ofDescriptors(USER));
    StreamObserver<DiscoveryRequest> hostile = connect();
    for (int i = 0; i < 10_000; i++) {
      hostile.onNext(request(i % 2 == 0 ? "throttlekit/d" : "throttlekit/invented"));
    }
    int answered = received.size();
    assertThat(answered).isBetween(1, FilterServer.TURN_BYTES >> 12);
    connect().onNext(request("throttlekit/other"));
    assertThat(received).as("the turn has no room left").hasSize(answered);
    nextTurn();
    assertThat(received.stream().filter(response -> response.toString().contains("other")))
        .hasSize(1);
    assertThat(received).hasSizeLessThanOrEqualTo(2 * answered + 1);
  }

  @Test
  void messagesThatNeedNoAnswerAreReadInTurnsToo() {
    StreamObserver<DiscoveryRequest> hostile = connect();
    for (int i = 0; i < 10_000; i++) {
      hostile.onNext(request("x" + i));
    }
    connect().onNext(request("throttlekit/d"));
    assertThat(received).isEmpty();
    nextTurn();
    assertThat(received).hasSize(1);
  }

  @Test
  void aReloadIsSentToManyEnvoysInTurns() {
    for (int i = 0; i < 1_000; i++) {
      connect().onNext(request("throttlekit/d"));
    }
    awaitNoTurn();
    received.clear();
    server.follow(Policies.ofDescriptors(USER));
    assertThat(received).hasSizeBetween(1, FilterServer.TURN_BYTES >> 12);
    server.follow(Policies.ofDescriptors(USER.replace("user", "org")));
    awaitNoTurn();
    assertThat(received.stream().filter(response -> response.toString().contains("org")))
        .as("Envoys with the newest filter")
        .hasSize(1_000);
  }

  private void nextTurn() {
    turns.removeFirst().run();
  }

  private void awaitNoTurn() {
    while (!turns.isEmpty()) {
      nextTurn();
    }
  }

  private FilterServer newServer() {
    return new FilterServer(
        new FilterSettings("limits", Duration.ofMillis(250), true),
        (_, turn) -> turns.add(turn),
        Runnable::run);
  }

  private StreamObserver<DiscoveryRequest> connect() {
    AtomicReference<ClientCallStreamObserver<DiscoveryRequest>> call = new AtomicReference<>();
    StreamObserver<DiscoveryRequest> stream = connect(call);
    call.get().request(Integer.MAX_VALUE);
    return stream;
  }

  /** Returns a stream on which the client reads what it requests from {@code call}. */
  private StreamObserver<DiscoveryRequest> connect(
      AtomicReference<ClientCallStreamObserver<DiscoveryRequest>> call) {
    return ExtensionConfigDiscoveryServiceGrpc.newStub(channel)
        .streamExtensionConfigs(
            new ClientResponseObserver<DiscoveryRequest, DiscoveryResponse>() {
              @Override
              public void beforeStart(ClientCallStreamObserver<DiscoveryRequest> started) {
                started.disableAutoRequestWithInitial(0);
                call.set(started);
              }

              @Override
              public void onNext(DiscoveryResponse response) {
                received.add(response);
              }

              @Override
              public void onError(Throwable cause) {
                failure = cause;
              }

              @Override
              public void onCompleted() {}
            });
  }

  private static DiscoveryRequest request(String... names) {
    return DiscoveryRequest.newBuilder()
        .setNode(Node.newBuilder().setId("edge-1"))
        .setTypeUrl(FilterResource.TYPE_URL)
        .addAllResourceNames(List.of(names))
        .build();
  }

  private static DiscoveryRequest.Builder acknowledgement(DiscoveryResponse response) {
    return request("throttlekit/d").toBuilder()
        .clearNode()
        .setVersionInfo(response.getVersionInfo())
        .setResponseNonce(response.getNonce());
  }

  private static DiscoveryRequest.Builder rejection(String reason) {
    return request("throttlekit/d").toBuilder()
        .setErrorDetail(Status.newBuilder().setMessage(reason));
  }

  private static RateLimit filter(DiscoveryResponse response)
      throws InvalidProtocolBufferException {
    return response
        .getResources(0)
        .unpack(TypedExtensionConfig.class)
        .getTypedConfig()
        .unpack(RateLimit.class);
  }

  private static int rateLimits(RateLimit filter) {
    return filter.getUnknownFields().getField(17).getLengthDelimitedList().size();
  }
}
