package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.rpc.Status;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the messages between one Envoy and the server, and which streams are rejected. */
class ClusterLimitStreamsTest {
  private static final ClusterLimit UP = new ClusterLimit("up", Priority.DEFAULT);

  private final ServedLimits served = new ServedLimits();

  @AfterEach
  void stop() {
    served.close();
  }

  @Test
  void aNackIsNotAnAcknowledgement() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    a.obeyAll();
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    b.obeyAll();
    DiscoveryResponse refused = a.obey();
    a.refuse(refused);
    a.refuse(refused, Status.getDefaultInstance()); // nor does a rejection without a reason
    assertThat(b.unread()).isZero();
    assertThat(a.unread()).isZero(); // the rejected share is not sent repeatedly
    served.offer("up", Priority.DEFAULT, 8);
    FakeEnvoy.settle(a, b);
    assertThat(a.share("up") + b.share("up")).isEqualTo(8);
  }

  @Test
  void aNackIsDescribedInOneLine() {
    Status forged = Status.newBuilder().setCode(3).setMessage("no\nERROR all is lost").build();
    assertThat(DiscoveryMessage.refusal(forged))
        .isEqualTo("code: 3 message: \"no\\nERROR all is lost\"");
    assertThat(DiscoveryMessage.refusal(Status.newBuilder().setMessage("x".repeat(5_000)).build()))
        .hasSize(1_000);
    assertThat(DiscoveryMessage.refusal(Status.getDefaultInstance())).isNotEmpty();
  }

  @Test
  void anUnknownNonceIsIgnored() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    a.obeyAll();
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    b.obeyAll();
    DiscoveryResponse lowered = a.obey();
    for (String nonce : List.of("x", "-1", "99999999999999999999", "1000")) {
      a.acknowledge(lowered.toBuilder().setNonce(nonce).build());
    }
    assertThat(b.unread()).isZero();
    a.acknowledge(lowered);
    assertThat(b.unread()).isEqualTo(1);
  }

  @Test
  void aReconnectedEnvoyIsSentItsShareForAnyVersion() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    FakeEnvoy.settle(a, b);
    String version = a.version();
    a.disconnect();
    served.offer("up", Priority.DEFAULT, 4);
    FakeEnvoy.settle(b);
    assertThat(b.share("up")).isZero(); // a may still apply 5
    for (String named : List.of(version, "", "another.7", version)) {
      FakeEnvoy again = FakeEnvoy.reconnect(served.channel(), "a", named);
      assertThat(again.unread()).as("named %s", named).isEqualTo(1);
      assertThat(b.unread()).as("named %s", named).isZero();
      again.disconnect();
    }
    FakeEnvoy again = FakeEnvoy.reconnect(served.channel(), "a", version);
    FakeEnvoy.settle(again, b);
    assertThat(again.share("up")).isEqualTo(2);
    assertThat(b.share("up")).isEqualTo(2);
  }

  @Test
  void aSlowStreamIsSentOnlyTheNewestLimit() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy slow = FakeEnvoy.connectSlow(served.channel(), "slow");
    for (int requests = 9; requests > 3; requests--) {
      served.offer("up", Priority.DEFAULT, requests);
    }
    assertThat(slow.unread()).isZero();
    slow.read();
    slow.obeyAll();
    assertThat(slow.share("up")).isEqualTo(4);
    slow.read();
    assertThat(slow.unread()).isZero();
    assertThat(served.acknowledged()).containsExactly(4);
  }

  @Test
  void anEnvoyWithoutALimitIsAnswered() {
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    assertThat(a.unread()).isEqualTo(1);
    a.obeyAll();
    assertThat(a.values()).isEmpty();
  }

  @Test
  void otherResourceTypesAreIgnored() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.open(served.channel(), "a", "", false);
    a.ask("type.googleapis.com/envoy.config.cluster.v3.Cluster");
    assertThat(a.unread()).isZero();
    a.ask(Wire.TYPE_URL);
    a.obeyAll();
    assertThat(a.share("up")).isEqualTo(10);
    assertThat(a.ended()).isFalse();
  }

  @Test
  void anUnusableNodeIdIsRejected() {
    for (String unusable : List.of("", "x".repeat(257), "a\nb")) {
      FakeEnvoy nameless = FakeEnvoy.connect(served.channel(), unusable);
      assertThat(nameless.failure()).contains("INVALID_ARGUMENT", "node id");
    }
    assertThat(served.rejected()).isEqualTo(3);
  }

  @Test
  void twoEnvoysWithOneNodeIdDivideItsShareAndNeitherEndsTheOther() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy other = FakeEnvoy.connect(served.channel(), "other");
    FakeEnvoy first = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy.settle(other, first);
    assertThat(first.share("up")).isEqualTo(5);
    FakeEnvoy second = FakeEnvoy.connect(served.channel(), "a");
    second.obeyAll();
    assertThat(second.share("up")).isZero(); // the first may still apply all of it
    FakeEnvoy.settle(other, first, second);
    assertThat(first.ended() || second.ended()).isFalse();
    assertThat(first.share("up")).isEqualTo(3);
    assertThat(second.share("up")).isEqualTo(2);
    assertThat(other.share("up")).isEqualTo(5);
    assertThat(served.limits().sharedNodes()).isEqualTo(1);
    first.disconnect();
    assertThat(served.limits().sharedNodes()).isZero();
    served.time().pass(Duration.ofSeconds(30));
    served.tick();
    FakeEnvoy.settle(other, second);
    assertThat(second.share("up")).isEqualTo(5);
  }

  @Test
  void anEnvoyReconnectedBeforeItsOldStreamEndedHasItsWholeShare() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy older = FakeEnvoy.connect(served.channel(), "a");
    older.obeyAll();
    FakeEnvoy newer = FakeEnvoy.reconnect(served.channel(), "a", older.version());
    newer.obeyAll();
    assertThat(newer.share("up")).isEqualTo(10);
    assertThat(served.limits().sharedNodes()).isZero();
    served.offer("up", Priority.DEFAULT, 6);
    assertThat(older.unread()).isZero();
    newer.obeyAll();
    assertThat(newer.share("up")).isEqualTo(6);
    assertThat(served.acknowledged()).containsExactly(10, 6);
    older.disconnect();
    served.time().pass(Duration.ofSeconds(30));
    served.tick();
    assertThat(newer.unread()).isZero();
    assertThat(newer.ended()).isFalse();
  }

  /**
   * Tests the bound of versions, which are kept: a client may name one of 256 KiB on each of its
   * streams.
   */
  @Test
  void anOverlongVersionIsNotStored() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy older = FakeEnvoy.connect(served.channel(), "a");
    older.obeyAll();
    FakeEnvoy.reconnect(served.channel(), "a", "x".repeat(200) + older.version()).obeyAll();
    assertThat(served.limits().sharedNodes()).isEqualTo(1);
  }

  @Test
  void arbitraryReportsOfAnAnonymousEnvoyKeepTheSharesOfOthers() {
    try (ServedLimits fleet = new ServedLimits(LimitServerSettings.DEFAULT)) {
      fleet.offer("up", Priority.DEFAULT, 200);
      List<FakeEnvoy> envoys = new ArrayList<>();
      for (String node : List.of("a", "b", "c", "d")) {
        envoys.add(FakeEnvoy.connect(fleet.channel(), node));
      }
      for (int pause = 0; pause < 4; pause++) {
        fleet.pause(LimitServerSettings.DEFAULT.pause());
        envoys.forEach(FakeEnvoy::obeyAll);
      }
      assertThat(envoys).allMatch(envoy -> envoy.share("up") == 50);
      envoys.add(FakeEnvoy.connect(fleet.channel(), "anonymous"));
      for (int half = 0; half < 40; half++) {
        for (String node : List.of("a", "b", "c", "d")) {
          fleet.reported(UP, node, 50, 0);
        }
        fleet.reported(UP, "anonymous", 1 << 30, 0);
        fleet.tick();
        envoys.forEach(FakeEnvoy::obeyAll);
        fleet.pause(Duration.ofMillis(500));
      }
      assertThat(envoys.subList(0, 4)).allMatch(envoy -> envoy.share("up") >= 49);
    }
  }

  @Test
  void inventedRefusalsOfAnEnvoyKeepEqualSharesOfOthers() {
    try (ServedLimits fleet = new ServedLimits(LimitServerSettings.DEFAULT)) {
      fleet.offer("up", Priority.DEFAULT, 200);
      Map<String, FakeEnvoy> honest = new LinkedHashMap<>();
      for (String node : List.of("a", "b", "c")) {
        honest.put(node, FakeEnvoy.connect(fleet.channel(), node));
      }
      FakeEnvoy hostile = FakeEnvoy.connect(fleet.channel(), "hostile");
      for (int half = 0; half < 40; half++) {
        int offered = half < 20 ? 10 : 60;
        honest.forEach((node, envoy) -> {
          int inFlight = Math.min(offered, Math.max(0, envoy.share("up")));
          fleet.reported(UP, node, inFlight, offered - inFlight);
        });
        fleet.reported(UP, "hostile", 10, 1 << 30);
        fleet.tick();
        honest.values().forEach(FakeEnvoy::obeyAll);
        hostile.obeyAll();
        fleet.pause(Duration.ofMillis(500));
        if (half == 19) {
          assertThat(hostile.share("up")).as("surplus of the others").isGreaterThan(150);
        }
      }
      honest.values().forEach(FakeEnvoy::obeyAll);
      assertThat(honest.values()).allMatch(envoy -> envoy.share("up") == 50);
    }
  }

  @Test
  void aNodeIdNotAllowedByTheCertificateIsRejected() {
    NodeIds onlyA = "a"::equals;
    ServerInterceptor binding =
        new ServerInterceptor() {
          @Override
          public <Q, A> ServerCall.Listener<Q> interceptCall(
              ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            Context bound = Context.current().withValue(NodeIds.KEY, onlyA);
            return Contexts.interceptCall(bound, call, headers, next);
          }
        };
    try (ServedLimits bound = new ServedLimits(LimitServerSettings.DEFAULT, binding)) {
      FakeEnvoy other = FakeEnvoy.connect(bound.channel(), "b");
      assertThat(other.failure()).contains("PERMISSION_DENIED", "certificate");
      assertThat(bound.rejected()).isEqualTo(1);
      assertThat(FakeEnvoy.connect(bound.channel(), "a").ended()).isFalse();
    }
  }

  @Test
  void streamsBeyondTheMaximumAreRejected() {
    served.offer("up", Priority.DEFAULT, 9);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy.connect(served.channel(), "b");
    FakeEnvoy.open(served.channel(), "says nothing", "", false);
    FakeEnvoy tooMany = FakeEnvoy.connect(served.channel(), "d");
    assertThat(tooMany.failure()).contains("RESOURCE_EXHAUSTED", "3 streams");
    assertThat(served.rejected()).isEqualTo(1);
    a.disconnect();
    assertThat(FakeEnvoy.connect(served.channel(), "e").ended()).isFalse();
    assertThat(served.rejected()).isEqualTo(1);
  }

  @Test
  void anUnsubscribedEnvoyHasNoShare() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(served.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(served.channel(), "b");
    FakeEnvoy.settle(a, b);
    b.send(DiscoveryRequest.newBuilder().setTypeUrl(Wire.TYPE_URL).build());
    served.time().pass(Duration.ofSeconds(30));
    served.tick();
    FakeEnvoy.settle(a);
    assertThat(a.share("up")).isEqualTo(10);
  }

  @Test
  void deltaStreamsReceiveTheSame() throws IOException {
    served.offer("up", Priority.DEFAULT, 10);
    List<DeltaDiscoveryResponse> answers = new ArrayList<>();
    StreamObserver<DeltaDiscoveryRequest> requests =
        AggregatedDiscoveryServiceGrpc.newStub(served.channel())
            .deltaAggregatedResources(
                new StreamObserver<>() {
                  @Override
                  public void onNext(DeltaDiscoveryResponse answer) {
                    answers.add(answer);
                  }

                  @Override
                  public void onError(Throwable cause) {}

                  @Override
                  public void onCompleted() {}
                });
    requests.onNext(
        DeltaDiscoveryRequest.newBuilder()
            .setNode(Node.newBuilder().setId("a"))
            .setTypeUrl(Wire.TYPE_URL)
            .addResourceNamesSubscribe("concurrency_limits")
            .build());
    DeltaDiscoveryResponse answer = answers.getLast();
    assertThat(answer.getResources(0).getName()).isEqualTo("concurrency_limits");
    assertThat(answer.getRemovedResourcesCount()).isZero();
    Runtime runtime = answer.getResources(0).getResource().unpack(Runtime.class);
    assertThat(runtime.getLayer().getFieldsOrThrow("circuit_breakers.up.default.max_requests"))
        .extracting(value -> value.getNumberValue())
        .isEqualTo(10.0);
    DeltaDiscoveryRequest acknowledgement =
        DeltaDiscoveryRequest.newBuilder()
            .setTypeUrl(Wire.TYPE_URL)
            .setResponseNonce(answer.getNonce())
            .build();
    requests.onNext(
        acknowledgement.toBuilder().setErrorDetail(Status.getDefaultInstance()).build());
    assertThat(served.acknowledged()).isEmpty();
    requests.onNext(acknowledgement);
    assertThat(served.acknowledged()).containsExactly(10);
  }
}
