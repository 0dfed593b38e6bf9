package io.throttlekit.envoy.ceiling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.ceiling.Ceiling.Priority;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fake Envoys in this thread: everything that is said is heard before a call returns. */
class CeilingServerTest {
  private static final CeilingSettings SETTINGS =
      new CeilingSettings(
          "ceiling", 3, Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ZERO);
  private static final Ceiling UP = new Ceiling("up", Priority.DEFAULT);

  private final SettableTime time = new SettableTime();
  private final List<Integer> obeyed = new ArrayList<>();
  private int turnedAway;
  private final CeilingServer ceilings = new CeilingServer(SETTINGS, time, "e1", new Hearing());
  private Server server;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws IOException {
    String name = UUID.randomUUID().toString();
    InProcessServerBuilder builder = InProcessServerBuilder.forName(name).directExecutor();
    ceilings.services().forEach(builder::addService);
    server = builder.build().start();
    channel = InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  @Test
  void anEnvoyIsToldItsShareOfEveryCeilingAsWholeNumbers() {
    ceilings.offer("up", Priority.DEFAULT, 7);
    ceilings.offer("up", Priority.HIGH, 0);
    ceilings.offer("a.default", Priority.DEFAULT, Integer.MAX_VALUE);
    FakeEnvoy envoy = FakeEnvoy.connect(channel, "a");
    DiscoveryResponse answer = envoy.obey();
    assertThat(answer.getTypeUrl()).isEqualTo(RuntimeLayer.TYPE_URL);
    assertThat(answer.getVersionInfo()).startsWith("e1.");
    assertThat(answer.getResourcesCount()).isEqualTo(1);
    assertThat(envoy.values())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "circuit_breakers.up.default.max_requests", 7.0,
                "circuit_breakers.up.high.max_requests", 0.0,
                "circuit_breakers.a.default.default.max_requests", 2147483647.0));
    assertThat(envoy.unread()).isZero();
  }

  @Test
  void sharesRiseOnlyOutOfWhatWasAcknowledged() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    a.obeyAll();
    assertThat(obeyed).containsExactly(10);
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    b.obeyAll();
    assertThat(b.share("up")).isZero();
    DiscoveryResponse lowered = a.obey();
    assertThat(a.share("up")).isEqualTo(5);
    assertThat(b.unread()).isZero(); // the answer of a is lost, or late
    a.acknowledge(lowered);
    b.obeyAll();
    assertThat(b.share("up")).isEqualTo(5);
    a.acknowledge(lowered); // and again
    assertThat(a.unread() + b.unread()).isZero();
  }

  @Test
  void whatEnvoysObeyIsTheSumOfWhatTheyAcknowledged() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    settle(a, b);
    assertThat(obeyed).containsExactly(5, 10);
    ceilings.offer("up", Priority.DEFAULT, 4);
    ceilings.offer("up", Priority.DEFAULT, 6);
    a.obeyAll();
    assertThat(obeyed).last().isEqualTo(3 + 5);
    settle(a, b);
    assertThat(obeyed).last().isEqualTo(6);
    int told = obeyed.size();
    ceilings.offer("up", Priority.DEFAULT, 6);
    settle(a, b);
    assertThat(obeyed).hasSize(told);
    b.disconnect(); // and goes on with its 3
    assertThat(obeyed).last().isEqualTo(6);
  }

  @Test
  void aRefusalIsNoAcknowledgement() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    a.obeyAll();
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    b.obeyAll();
    a.refuse(a.obey());
    assertThat(b.unread()).isZero();
    assertThat(a.unread()).isZero(); // and it is not told the same for ever
    ceilings.offer("up", Priority.DEFAULT, 8);
    settle(a, b);
    assertThat(a.share("up") + b.share("up")).isEqualTo(8);
  }

  @Test
  void anAnswerToWhatWasNeverSentSaysNothing() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    a.obeyAll();
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
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
  void whoComesBackIsToldWhateverVersionItNames() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    settle(a, b);
    String version = a.version();
    a.disconnect();
    ceilings.offer("up", Priority.DEFAULT, 4);
    settle(b);
    assertThat(b.share("up")).isZero(); // a may still obey 5
    for (String named : List.of(version, "", "another.7", version)) {
      FakeEnvoy again = FakeEnvoy.reconnect(channel, "a", named);
      assertThat(again.unread()).as("named %s", named).isEqualTo(1);
      assertThat(b.unread()).as("named %s", named).isZero();
      again.disconnect();
    }
    FakeEnvoy again = FakeEnvoy.reconnect(channel, "a", version);
    settle(again, b);
    assertThat(again.share("up")).isEqualTo(2);
    assertThat(b.share("up")).isEqualTo(2);
  }

  @Test
  void theShareOfWhoLeftIsReservedForItsLease() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    settle(a, b);
    b.disconnect();
    time.pass(Duration.ofSeconds(30).minusNanos(1));
    ceilings.tick();
    settle(a);
    assertThat(a.share("up")).isEqualTo(5);
    time.pass(Duration.ofNanos(1));
    ceilings.tick();
    settle(a);
    assertThat(a.share("up")).isEqualTo(10);
  }

  @Test
  void nothingInFlightProvesThatWhoLeftIsGone() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    settle(a, b);
    b.disconnect();
    ceilings.reported(UP, "b", 0, 0);
    ceilings.tick();
    settle(a);
    assertThat(a.share("up")).isEqualTo(10);
  }

  @Test
  void sharesFollowWhatIsReported() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    settle(a, b);
    ceilings.reported(UP, "a", 5, 20);
    ceilings.reported(new Ceiling("other", Priority.HIGH), "b", 50, 20);
    ceilings.tick();
    settle(a, b);
    assertThat(a.share("up")).isEqualTo(9);
    assertThat(b.share("up")).isEqualTo(1);
  }

  @Test
  void aSlowStreamIsToldOnlyTheNewest() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy slow = FakeEnvoy.connectSlow(channel, "slow");
    for (int requests = 9; requests > 3; requests--) {
      ceilings.offer("up", Priority.DEFAULT, requests);
    }
    assertThat(slow.unread()).isZero();
    slow.read();
    slow.obeyAll();
    assertThat(slow.share("up")).isEqualTo(4);
    slow.read();
    assertThat(slow.unread()).isZero();
    assertThat(obeyed).containsExactly(4);
  }

  @Test
  void aCeilingTakenBackLeavesAnEmptyLayerAndNotNothing() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    a.obeyAll();
    ceilings.withdraw("up", Priority.DEFAULT);
    DiscoveryResponse answer = a.obey();
    assertThat(answer.getResourcesCount()).isEqualTo(1);
    assertThat(a.values()).isEmpty();
    a.acknowledge(answer);
    ceilings.offer("up", Priority.DEFAULT, 3);
    a.obeyAll();
    assertThat(a.share("up")).isEqualTo(3);
    assertThat(obeyed).containsExactly(10, 3);
  }

  @Test
  void anEnvoyWithoutACeilingIsAnsweredToo() {
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    assertThat(a.unread()).isEqualTo(1);
    a.obeyAll();
    assertThat(a.values()).isEmpty();
  }

  @Test
  void otherResourcesAreNotAnsweredAndDoNotEndTheStream() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.open(channel, "a", "", false);
    a.ask("type.googleapis.com/envoy.config.cluster.v3.Cluster");
    assertThat(a.unread()).isZero();
    a.ask(RuntimeLayer.TYPE_URL);
    a.obeyAll();
    assertThat(a.share("up")).isEqualTo(10);
    assertThat(a.ended()).isFalse();
  }

  @Test
  void theNodeIsInTheFirstMessage() {
    FakeEnvoy nameless = FakeEnvoy.connect(channel, "");
    assertThat(nameless.failure()).contains("INVALID_ARGUMENT", "node id");
  }

  @Test
  void ofTwoStreamsWithOneNameTheNewerIsHeard() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy older = FakeEnvoy.connect(channel, "a");
    older.obeyAll();
    FakeEnvoy newer = FakeEnvoy.connect(channel, "a");
    assertThat(older.failure()).contains("ABORTED", "a came on another stream");
    newer.obeyAll();
    assertThat(newer.share("up")).isEqualTo(10);
    ceilings.offer("up", Priority.DEFAULT, 6);
    newer.obeyAll();
    assertThat(newer.share("up")).isEqualTo(6);
  }

  @Test
  void thereAreNoMoreStreamsThanAllowed() {
    ceilings.offer("up", Priority.DEFAULT, 9);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    FakeEnvoy.connect(channel, "b");
    FakeEnvoy.open(channel, "says nothing", "", false);
    FakeEnvoy tooMany = FakeEnvoy.connect(channel, "d");
    assertThat(tooMany.failure()).contains("RESOURCE_EXHAUSTED", "3 streams");
    assertThat(turnedAway).isEqualTo(1);
    a.disconnect();
    assertThat(FakeEnvoy.connect(channel, "e").ended()).isFalse();
    assertThat(turnedAway).isEqualTo(1);
  }

  @Test
  void anEnvoyThatNoLongerAsksHasNoShare() {
    ceilings.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    FakeEnvoy b = FakeEnvoy.connect(channel, "b");
    settle(a, b);
    b.send(DiscoveryRequest.newBuilder().setTypeUrl(RuntimeLayer.TYPE_URL).build());
    ceilings.reported(UP, "b", 0, 0);
    ceilings.tick();
    settle(a);
    assertThat(a.share("up")).isEqualTo(10);
  }

  @Test
  void deltaStreamsAreToldTheSame() throws IOException {
    ceilings.offer("up", Priority.DEFAULT, 10);
    List<DeltaDiscoveryResponse> answers = new ArrayList<>();
    StreamObserver<DeltaDiscoveryRequest> requests =
        AggregatedDiscoveryServiceGrpc.newStub(channel)
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
            .setTypeUrl(RuntimeLayer.TYPE_URL)
            .addResourceNamesSubscribe("ceiling")
            .build());
    DeltaDiscoveryResponse answer = answers.getLast();
    assertThat(answer.getResources(0).getName()).isEqualTo("ceiling");
    assertThat(answer.getRemovedResourcesCount()).isZero();
    Runtime runtime = answer.getResources(0).getResource().unpack(Runtime.class);
    assertThat(runtime.getLayer().getFieldsOrThrow("circuit_breakers.up.default.max_requests"))
        .extracting(value -> value.getNumberValue())
        .isEqualTo(10.0);
    requests.onNext(
        DeltaDiscoveryRequest.newBuilder()
            .setTypeUrl(RuntimeLayer.TYPE_URL)
            .setResponseNonce(answer.getNonce())
            .build());
    assertThat(obeyed).containsExactly(10);
  }

  @Test
  void aListenerThatFailsDoesNotKeepEnvoysFromTheirShares() {
    ceilings.offer("up", Priority.DEFAULT, 13);
    FakeEnvoy a = FakeEnvoy.connect(channel, "a");
    a.obeyAll();
    ceilings.offer("up", Priority.DEFAULT, 5);
    a.obeyAll();
    assertThat(a.share("up")).isEqualTo(5);
    assertThat(obeyed).containsExactly(5);
  }

  /** Each acknowledgement of a large fleet would divide everything anew. */
  @Test
  void acknowledgementsAreGathered() throws IOException {
    CeilingSettings patient =
        new CeilingSettings(
            "ceiling", 9, Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofMillis(20));
    CeilingServer gathering = new CeilingServer(patient, time, "e1", (_, _, _) -> {});
    InProcessServerBuilder builder = InProcessServerBuilder.forName("gathering").directExecutor();
    gathering.services().forEach(builder::addService);
    Server other = builder.build().start();
    ManagedChannel client = InProcessChannelBuilder.forName("gathering").directExecutor().build();
    gathering.offer("up", Priority.DEFAULT, 12);
    List<FakeEnvoy> envoys = new ArrayList<>();
    for (String node : List.of("a", "b", "c", "d")) {
      envoys.add(FakeEnvoy.connect(client, node));
    }
    long before = gathering.round();
    envoys.forEach(FakeEnvoy::obeyAll);
    assertThat(gathering.round()).isEqualTo(before + 1);
    for (int i = 0; i < 4; i++) {
      gathering.tick();
      envoys.forEach(FakeEnvoy::obeyAll);
    }
    assertThat(envoys).allMatch(envoy -> envoy.share("up") == 3);
    client.shutdownNow();
    other.shutdownNow();
  }

  @Test
  void badNumbersAndNamesAreRefused() {
    assertThatThrownBy(() -> ceilings.offer("up", Priority.DEFAULT, -1)).hasMessageContaining("-1");
    assertThatThrownBy(() -> ceilings.offer("", Priority.DEFAULT, 1)).hasMessageContaining("name");
    assertThatThrownBy(() ->
            new CeilingSettings(
                "c", 0, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static void settle(FakeEnvoy... envoys) {
    for (boolean all = false; !all; ) {
      all = true;
      for (FakeEnvoy envoy : envoys) {
        all &= envoy.unread() == 0;
        envoy.obeyAll();
      }
    }
  }

  private final class Hearing implements CeilingListener {
    @Override
    public void obeyed(Ceiling ceiling, int requests, long sinceNanos) {
      if (requests == 13) {
        throw new IllegalStateException("a listener that fails");
      }
      assertThat(ceiling.cluster()).isNotEmpty();
      obeyed.add(requests);
    }

    @Override
    public void turnedAway() {
      turnedAway++;
    }
  }
}
