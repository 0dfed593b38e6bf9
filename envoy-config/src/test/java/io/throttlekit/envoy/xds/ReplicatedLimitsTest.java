package io.throttlekit.envoy.xds;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.LimitServer.Mark;
import io.throttlekit.envoy.xds.ServedLimits.Replica;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests Envoys whose streams are on several replicas, of which any may steer. */
class ReplicatedLimitsTest {
  private static final ClusterLimit UP = new ClusterLimit("up", Priority.DEFAULT);

  private final ServedLimits served = ServedLimits.on(3);
  private final Replica first = served.replica(0);
  private final Replica second = served.replica(1);
  private final Replica third = served.replica(2);

  @AfterEach
  void stop() {
    served.close();
  }

  @Test
  void oneLimitIsDividedOverTheEnvoysOfAllReplicas() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    assertThat(a.share("up")).isEqualTo(5);
    assertThat(b.share("up")).isEqualTo(5);
    assertThat(served.acknowledged()).last().isEqualTo(10);
    assertThat(served.division().streams()).isEqualTo(2);
  }

  @Test
  void aShareIsPushedOnlyByAPublishedPlan() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    Mark mark = first.limits().begin();
    first.report();
    SharePlan plan = served.division().round(1);
    assertThat(plan.part("a", token(first))).isNotNull();
    assertThat(a.unread()).isZero();
    first.apply(plan, mark);
    assertThat(a.unread()).isEqualTo(1);
  }

  @Test
  void aReservationIsLoweredOnlyInAPlanAfterTheAcknowledgement() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    served.offer("up", Priority.DEFAULT, 4);
    assertThat(reserved("a")).isEqualTo(10);
    DiscoveryResponse lowered = a.obey();
    served.visitAll();
    assertThat(reserved("a")).isEqualTo(10);
    a.acknowledge(lowered);
    assertThat(reserved("a")).isEqualTo(10);
    served.visitAll();
    assertThat(reserved("a")).isEqualTo(4);
  }

  @Test
  void aStreamHasItsFirstShareOnlyFromAVisitThatBeganAfterItJoined() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    String version = a.version();
    SharePlan old = served.record(); // grants 10 to a
    Mark before = first.limits().begin();
    FakeEnvoy moved = FakeEnvoy.reconnect(second.channel(), "a", version);
    served.division().offer(UP, 2);
    second.visit();
    moved.obeyAll();
    second.visit();
    assertThat(reserved("a")).isEqualTo(2);
    FakeEnvoy back = FakeEnvoy.reconnect(first.channel(), "a", moved.version());
    first.apply(old, before); // the answer to a visit that was slow
    assertThat(back.unread()).isZero();
    first.visit();
    back.obeyAll();
    assertThat(back.share("up")).isEqualTo(2);
  }

  @Test
  void anOlderPlanIsIgnored() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    SharePlan old = served.record();
    served.offer("up", Priority.DEFAULT, 4);
    settle(a);
    first.apply(old, first.limits().begin());
    assertThat(a.unread()).isZero();
    FakeEnvoy again = FakeEnvoy.reconnect(first.channel(), "a", a.version());
    first.apply(old, first.limits().begin());
    assertThat(again.unread()).isZero();
  }

  @Test
  void anEnvoyKeepsItsShareWhenItMovesToAnotherReplica() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(first.channel(), "b");
    settle(a, b);
    FakeEnvoy moved = FakeEnvoy.reconnect(second.channel(), "a", a.version());
    second.visit(); // once, while its older stream is open
    assertThat(moved.unread()).isEqualTo(1);
    moved.obeyAll();
    assertThat(moved.share("up")).isEqualTo(5);
    a.disconnect();
    served.time().pass(Duration.ofMinutes(1));
    settle(moved, b);
    assertThat(moved.share("up")).isEqualTo(5);
    assertThat(b.share("up")).isEqualTo(5);
    assertThat(moved.version()).endsWith(a.version().substring(a.version().lastIndexOf('.')));
  }

  @Test
  void anEnvoyKeepsItsShareWhenItMovesOverDelta() throws InvalidProtocolBufferException {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    List<DeltaDiscoveryResponse> answers = new ArrayList<>();
    delta(a.version(), answers);
    second.visit();
    assertThat(answers).hasSize(1);
    Runtime runtime = answers.getFirst().getResources(0).getResource().unpack(Runtime.class);
    assertThat(runtime.getLayer().getFieldsOrThrow(UP.runtimeKey()).getNumberValue())
        .isEqualTo(10.0);
    assertThat(served.record().parts()).hasSize(1);
  }

  @Test
  void anEnvoyWithoutAUsableVersionHasANewToken() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy.reconnect(first.channel(), "a", "e1.7.0123456789ABCDEF");
    FakeEnvoy.reconnect(second.channel(), "a", "e1.7.");
    served.visitAll();
    assertThat(served.record().parts()).hasSize(3);
    assertThat(served.record().parts())
        .allSatisfy(part -> assertThat(part.token()).matches("[0-9a-f]{16}"));
  }

  @Test
  void aStreamWaitsForAPlanThatContainsIt() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    first.apply(served.record(), first.limits().begin());
    assertThat(a.unread()).isZero(); // an empty layer would be the threshold of its bootstrap
    settle(a);
    assertThat(a.share("up")).isEqualTo(10);
  }

  @Test
  void aSubscribedStreamKeepsItsTokenWhateverVersionItPresents() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.reconnect(first.channel(), "a", "e1.7.0123456789abcdef");
    a.obeyAll();
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    a.send(
        DiscoveryRequest.newBuilder()
            .setTypeUrl(Wire.TYPE_URL)
            .setVersionInfo(b.version())
            .addResourceNames("concurrency_limits")
            .build());
    assertThat(token(first)).isEqualTo("0123456789abcdef");
    a.disconnect();
    assertThat(first.limits().streams()).isEmpty();
  }

  @Test
  void aRestartedEnvoyHasTheShareOfItsPredecessorAtOnceAndOnlyOneHasIt() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    a.disconnect();
    FakeEnvoy restarted = FakeEnvoy.connect(second.channel(), "a");
    FakeEnvoy another = FakeEnvoy.connect(third.channel(), "a");
    second.report(); // in any order
    third.report();
    first.report();
    served.round();
    Map<String, Long> reserved = served.division().reserved(UP);
    assertThat(reserved).containsExactly(Map.entry("a", 10L));
    served.visitAll();
    restarted.obeyAll();
    another.obeyAll();
    // One has what it may of the 10 at once; the other waits for its acknowledgement.
    assertThat(restarted.share("up") + another.share("up")).isEqualTo(5);
    settle(restarted, another);
    assertThat(restarted.share("up")).isEqualTo(5);
    assertThat(another.share("up")).isEqualTo(5);
    assertThat(served.record().parts()).hasSize(2);
  }

  @Test
  void anAcknowledgementOfAPredecessorDoesNotCount() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    a.disconnect();
    served.division().offer(UP, 4);
    FakeEnvoy restarted = FakeEnvoy.connect(second.channel(), "a");
    served.visitAll();
    assertThat(reserved("a")).isEqualTo(10);
    restarted.obeyAll();
    served.visitAll();
    assertThat(reserved("a")).isEqualTo(4);
  }

  @Test
  void equalNodeIdsOnSeveralReplicasDivideOneShare() {
    served.offer("up", Priority.DEFAULT, 12);
    FakeEnvoy one = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy other = FakeEnvoy.connect(second.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(third.channel(), "b");
    settle(one, other, b);
    assertThat(one.share("up")).isEqualTo(3);
    assertThat(other.share("up")).isEqualTo(3);
    assertThat(b.share("up")).isEqualTo(6);
    assertThat(served.division().sharedNodes()).isEqualTo(1);
    assertThat(first.limits().sharedNodes()).isZero();
  }

  @Test
  void acknowledgementsCountByNumberWhicheverReplicaReportsThem() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    served.offer("up", Priority.DEFAULT, 8);
    DiscoveryResponse eight = a.obey(); // its acknowledgement is late
    served.offer("up", Priority.DEFAULT, 4);
    FakeEnvoy moved = FakeEnvoy.reconnect(second.channel(), "a", a.version());
    second.visit();
    a.acknowledge(eight);
    served.visitAll();
    assertThat(reserved("a")).isEqualTo(10);
    moved.obeyAll();
    served.visitAll();
    assertThat(reserved("a")).isEqualTo(4);
    served.offer("up", Priority.DEFAULT, 2);
    a.acknowledge(eight);
    served.visitAll();
    assertThat(reserved("a")).isEqualTo(4);
  }

  @Test
  void aGrantOfAnEqualShareIsPushedUntilItIsAcknowledged() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(second.channel(), "a");
    settle(a);
    served.division().offer(UP, 4);
    served.round();
    served.division().offer(UP, 10);
    served.round();
    second.visit(); // without having seen the plan of 4
    assertThat(a.unread()).isEqualTo(1);
    settle(a);
    assertThat(requireNonNull(served.division().acknowledgements(UP)).unacknowledged()).isZero();
  }

  @Test
  void theShareOfAnEnvoyOfADeadReplicaStaysReservedWhateverItReports() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    first.vanish();
    served.round();
    served.reported(UP, "a", 0, 0);
    served.time().pass(Duration.ofSeconds(30).minusNanos(1));
    settleOn(second, b);
    assertThat(b.share("up")).isEqualTo(5);
    served.time().pass(Duration.ofNanos(1));
    settleOn(second, b);
    assertThat(b.share("up")).isEqualTo(10);
  }

  @Test
  void anEnvoyOfADeadReplicaReturnsToItsShare() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    first.vanish();
    served.division().offer(UP, 6);
    settleOn(second, b);
    assertThat(b.share("up")).isEqualTo(1); // 5 may be applied by a
    FakeEnvoy moved = FakeEnvoy.reconnect(second.channel(), "a", a.version());
    settleOn(second, moved, b);
    assertThat(moved.share("up")).isEqualTo(3);
    assertThat(b.share("up")).isEqualTo(3);
  }

  @Test
  void anotherSteeringReplicaContinuesFromTheRecord() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    served.division().offer(UP, 4);
    served.round();
    second.visit();
    b.obeyAll(); // and no replica has reported it yet
    served.steerFrom(served.record());
    assertThat(served.division().limits()).containsExactly(UP);
    assertThat(served.division().round(1)).isSameAs(served.record());
    served.time().pass(Duration.ofSeconds(29));
    second.visit();
    first.visit();
    assertThat(reserved("b")).isEqualTo(2);
    assertThat(reserved("a")).isEqualTo(5);
    settle(a, b);
    assertThat(a.share("up") + b.share("up")).isEqualTo(4);
    assertThat(served.acknowledged()).last().isEqualTo(4);
  }

  @Test
  void anotherSteeringReplicaReservesForAllUntilTheirReplicasReport() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    served.steerFrom(served.record());
    first.visit();
    served.reported(UP, "b", 0, 0);
    first.visit();
    assertThat(a.unread()).isZero();
    settle(a, b);
    assertThat(a.unread() + b.unread()).isZero();
    assertThat(a.share("up") + b.share("up")).isEqualTo(10);
  }

  @Test
  void aPartWithoutARecordIsReservedAsItsReplicaReports() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    served.steerFrom(SharePlan.EMPTY);
    served.division().offer(UP, 4);
    first.report();
    second.report();
    served.round();
    assertThat(reserved("a")).isEqualTo(5);
    assertThat(reserved("b")).isEqualTo(5);
    settle(a, b);
    assertThat(a.share("up") + b.share("up")).isEqualTo(4);
    assertThat(reserved("a") + reserved("b")).isEqualTo(4);
  }

  @Test
  void aShareOfALostPlanIsReservedUntilANewOneIsAcknowledged() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    SharePlan old = served.record();
    served.reported(UP, "a", 5, 5);
    settle(a, b);
    assertThat(a.share("up")).isEqualTo(9);
    served.steerFrom(old); // the store has lost what came after it
    first.report();
    served.round();
    assertThat(reserved("a")).isEqualTo(9);
    settle(a, b);
    assertThat(reserved("a")).isEqualTo(5);
    assertThat(a.share("up")).isEqualTo(5);
    assertThat(b.share("up")).isEqualTo(5);
  }

  @Test
  void numbersOfALostPlanAreNotUsedAgain() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    settle(a);
    SharePlan old = served.record();
    served.offer("up", Priority.DEFAULT, 6);
    settle(a);
    long lost = served.record().number();
    served.steerFrom(old);
    served.division().offer(UP, 3);
    served.round();
    assertThat(served.record().number()).isGreaterThan(lost);
    first.report(); // acknowledges the lost number
    served.round();
    assertThat(reserved("a")).isEqualTo(10);
  }

  @Test
  void aSteadyStateHasTheSamePlan() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy b = FakeEnvoy.connect(second.channel(), "b");
    settle(a, b);
    SharePlan plan = served.division().round(1);
    served.reported(UP, "a", 1, 0);
    first.report();
    second.report();
    served.division().offer(UP, 10);
    assertThat(served.division().round(2)).isSameAs(plan);
    served.division().offer(UP, 11);
    assertThat(served.division().round(3).number()).isGreaterThan(plan.number());
  }

  @Test
  void aReplicaThatIsCutOffEndsItsStreamsUntilItIsReachable() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    FakeEnvoy silent = FakeEnvoy.open(first.channel(), "silent", "", false);
    settle(a);
    first.limits().cutOff();
    first.limits().cutOff();
    assertThat(a.failure()).contains("UNAVAILABLE", "another");
    assertThat(silent.failure()).contains("UNAVAILABLE");
    FakeEnvoy again = FakeEnvoy.reconnect(first.channel(), "a", a.version());
    assertThat(again.failure()).contains("UNAVAILABLE", "another");
    assertThat(first.limits().streams()).isEmpty();
    assertThat(first.limits().rejected()).isZero();
    first.limits().reachable();
    FakeEnvoy back = FakeEnvoy.reconnect(first.channel(), "a", a.version());
    settle(back);
    assertThat(back.share("up")).isEqualTo(10);
  }

  @Test
  void aStreamReportsTheLargestShareThatItMayApply() {
    served.offer("up", Priority.DEFAULT, 10);
    FakeEnvoy a = FakeEnvoy.connect(first.channel(), "a");
    served.visitAll();
    assertThat(first.limits().streams().getFirst().mayApply()).containsEntry(UP, 10);
    served.offer("up", Priority.DEFAULT, 4);
    DiscoveryResponse ten = a.obey();
    a.acknowledge(ten);
    assertThat(first.limits().streams().getFirst().mayApply()).containsEntry(UP, 10);
    a.obeyAll();
    StreamState state = first.limits().streams().getFirst();
    assertThat(state.mayApply()).containsEntry(UP, 4);
    assertThat(state.acknowledged()).isEqualTo(served.record().number());
    assertThat(state.sent()).isEqualTo(state.acknowledged());
  }

  private void delta(String version, List<DeltaDiscoveryResponse> answers) {
    AggregatedDiscoveryServiceGrpc.newStub(second.channel())
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
            })
        .onNext(
            DeltaDiscoveryRequest.newBuilder()
                .setNode(Node.newBuilder().setId("a"))
                .setTypeUrl(Wire.TYPE_URL)
                .addResourceNamesSubscribe("concurrency_limits")
                .putInitialResourceVersions("concurrency_limits", version)
                .build());
  }

  private long reserved(String node) {
    return served.division().reserved(UP).getOrDefault(node, 0L);
  }

  private static String token(Replica replica) {
    return replica.limits().streams().getFirst().token();
  }

  /** Lets all replicas visit and all Envoys acknowledge, until nothing changes. */
  private void settle(FakeEnvoy... envoys) {
    settleOn(served::visitAll, envoys);
  }

  private static void settleOn(Replica replica, FakeEnvoy... envoys) {
    settleOn(
        () -> {
          replica.visit();
          replica.visit();
        },
        envoys);
  }

  private static void settleOn(Runnable visits, FakeEnvoy... envoys) {
    visits.run();
    for (boolean all = false; !all; ) {
      all = List.of(envoys).stream().allMatch(envoy -> envoy.unread() == 0);
      List.of(envoys).forEach(FakeEnvoy::obeyAll);
      visits.run();
    }
  }
}
