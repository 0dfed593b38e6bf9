package io.throttlekit.service.concurrency.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.envoy.xds.FakeEnvoy;
import io.throttlekit.service.concurrency.envoy.SteeringFleet.Network;
import io.throttlekit.service.concurrency.envoy.SteeringFleet.Replica;
import io.throttlekit.service.server.Book;
import io.throttlekit.steering.Acknowledgements;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Visit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas that steer Envoys together, in simulated time. */
class SteeringFleetTest {
  private SteeringFleet fleet = new SteeringFleet(3, book("min: 20, max: 20"));

  @AfterEach
  void stop() {
    fleet.close();
  }

  @Test
  void anEnvoyReceivesTheLimitInferredFromLogsAndReportsAtOtherReplicas() {
    use("min: 4, max: 100");
    Replica other = fleet.replica(1);
    FakeEnvoy envoy = other.connect("e");
    fleet.pass(200);
    assertThat(fleet.steeringOne()).isSameAs(fleet.replica(0));
    assertThat(envoy.share("up")).isEqualTo(20);
    for (int second = 0; second < 10; second++) {
      full("e", fleet.replica(2), fleet.replica(2));
    }
    int risen = envoy.share("up");
    assertThat(risen).isGreaterThan(20);
    for (int second = 0; second < 60; second++) {
      fleet.replica(2).timedOut("e", 100);
      fleet.pass(1_000);
    }
    assertThat(envoy.share("up")).isEqualTo(4);
  }

  @Test
  void aLimitFollowsTheSameCourseWhereverTheReportsArrive() {
    List<Integer> alone = course(1, 0, 0, 0);
    assertThat(course(3, 0, 1, 2)).isEqualTo(alone);
    assertThat(course(3, 1, 2, 0)).isEqualTo(alone);
    assertThat(alone.getLast()).isGreaterThan(alone.getFirst());
  }

  /** Returns the limit after each second of a load that fills it. */
  private List<Integer> course(int replicas, int limits, int logs, int loads) {
    use(replicas, "min: 4, max: 100, algorithm: aimd");
    fleet.replica(limits).connect("e");
    fleet.pass(200);
    List<Integer> course = new ArrayList<>();
    for (int second = 0; second < 10; second++) {
      full("e", fleet.replica(logs), fleet.replica(loads));
      course.add(fleet.replica(0).limit());
    }
    return course;
  }

  @Test
  void sharesFollowTheDemandThatOtherReplicasReport() {
    fleet.limit = 20;
    FakeEnvoy busy = fleet.replica(1).connect("busy");
    FakeEnvoy idle = fleet.replica(2).connect("idle");
    for (int second = 0; second < 10; second++) {
      fleet.replica(2).load("busy", 1, 9, 9);
      fleet.replica(0).refused("busy", 20);
      fleet.replica(1).load("idle", 1, 0, 0);
      fleet.pass(1_000);
    }
    assertThat(busy.share("up")).isGreaterThan(15);
    assertThat(idle.share("up")).isPositive();
  }

  @Test
  void anEnvoyThatMovesKeepsItsShare() {
    fleet.limit = 20;
    FakeEnvoy first = fleet.replica(0).connect("first");
    FakeEnvoy second = fleet.replica(1).connect("second");
    fleet.pass(1_000);
    assertThat(first.share("up")).isEqualTo(10);
    assertThat(second.share("up")).isEqualTo(10);
    for (int move = 0; move < 6; move++) {
      second.disconnect();
      second = fleet.replica((move + 2) % 3).reconnect("second", second);
      fleet.pass(200);
      assertThat(second.share("up")).as("after %s moves", move + 1).isEqualTo(10);
      assertThat(first.share("up")).isEqualTo(10);
    }
  }

  /** Between its streams, its load report at another replica may say that it is idle. */
  @Test
  void anIdleEnvoyThatMovesSlowlyKeepsItsShare() {
    fleet.limit = 20;
    FakeEnvoy busy = fleet.replica(0).connect("busy");
    FakeEnvoy idle = fleet.replica(1).connect("idle");
    fleet.pass(1_000);
    idle.disconnect();
    for (int second = 0; second < 5; second++) {
      fleet.replica(0).load("busy", 1, 10, 100);
      fleet.replica(0).refused("busy", 20);
      fleet.replica(2).load("idle", 1, 0, 0);
      fleet.pass(1_000);
    }
    assertThat(busy.share("up")).isEqualTo(10);
    FakeEnvoy back = fleet.replica(2).reconnect("idle", idle);
    fleet.pass(1_000);
    assertThat(back.share("up")).isPositive();
    assertThat(fleet.applied()).isEqualTo(20);
  }

  @Test
  void aNewEnvoyHasItsShareWithinAFifthOfASecond() {
    fleet.limit = 20;
    fleet.pass(1_000);
    FakeEnvoy envoy = fleet.replica(2).connect("e");
    fleet.pass(200);
    assertThat(envoy.share("up")).isEqualTo(20);
  }

  @Test
  void anotherReplicaContinuesFromTheRecordIfTheSteeringOneFails() {
    use("min: 4, max: 100");
    FakeEnvoy envoy = fleet.replica(1).connect("e");
    fleet.pass(200);
    for (int second = 0; second < 10; second++) {
      full("e", fleet.replica(2), fleet.replica(2));
    }
    int found = envoy.share("up");
    assertThat(found).isGreaterThan(40);
    fleet.limit = found;
    fleet.steeringOne().crash();
    fleet.pass(3_000);
    assertThat(fleet.steeringOne().limit()).isEqualTo(found);
    assertThat(envoy.share("up")).isEqualTo(found);
    fleet.limit = Integer.MAX_VALUE;
    List<Integer> shares = new ArrayList<>();
    for (int second = 0; second < 20; second++) {
      full("e", fleet.replica(1), fleet.replica(1));
      fleet.replica(1).refused("e", 10); // saturated: a measurement would be due
      shares.add(envoy.share("up"));
    }
    assertThat(shares).as("no measurement").allMatch(share -> share >= found / 2);
    assertThat(shares.getLast()).isGreaterThanOrEqualTo(found);
  }

  @Test
  void theSumOfSharesStaysBelowTheLimitWhileReplicasFailOneAfterAnother() {
    fleet.limit = 20;
    for (int i = 0; i < 6; i++) {
      fleet.replica(i % 3).connect("e" + i);
    }
    fleet.pass(2_000);
    assertThat(fleet.applied()).isEqualTo(20);
    fleet.steeringOne().crash();
    fleet.pass(500);
    fleet.replica(0).connect("new");
    fleet.pass(2_500);
    Replica second = fleet.steeringOne();
    second.crash();
    fleet.pass(500);
    fleet.replica(0).connect("newer");
    fleet.pass(2_500);
    assertThat(fleet.steeringOne()).isNotSameAs(second);
    assertThat(fleet.applied()).isEqualTo(20);
  }

  /** Their own are lost with the replica: they apply them until the hold ends. */
  @Test
  void sharesOfTheEnvoysOfAFailedReplicaStayReservedForTheHold() {
    fleet.limit = 20;
    fleet.replica(1).connect("lost");
    FakeEnvoy other = fleet.replica(2).connect("other");
    fleet.pass(1_000);
    assertThat(other.share("up")).isEqualTo(10);
    fleet.replica(1).crash();
    fleet.replica(1).load("lost", 7, 0, 0); // and yet it may send requests
    fleet.pass(14_000);
    assertThat(other.share("up")).isEqualTo(10);
    fleet.limit = 30;
    fleet.pass(6_000);
    assertThat(other.share("up")).isEqualTo(20);
  }

  /** Its stream is on a replica that hangs, which it does not notice. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theShareOfAnEnvoyWhoseReportsArriveElsewhereStaysReserved(boolean steeringOneHangs) {
    fleet.limit = 20;
    Replica hung = fleet.replica(steeringOneHangs ? 0 : 1);
    FakeEnvoy stuck = hung.connect("stuck");
    FakeEnvoy other = fleet.replica(2).connect("other");
    fleet.pass(1_000);
    hung.network = Network.HELD;
    for (int second = 0; second < 60; second++) {
      fleet.replica(2).load("stuck", 1, 3, 3);
      fleet.pass(1_000);
    }
    int last = stuck.share("up");
    assertThat(last).isPositive();
    fleet.pass(14_000);
    assertThat(other.share("up")).isLessThan(20);
    fleet.limit = 20 + last; // nothing has shown for 15 s that it is there
    fleet.pass(3_000);
    assertThat(other.share("up")).isEqualTo(20);
  }

  /** Its new process reports under the same id. */
  @Test
  void theShareOfAnEnvoyThatIsReplacedUnderItsIdIsNotHeldForIt() {
    fleet.limit = 20;
    FakeEnvoy first = fleet.replica(1).connect("e");
    FakeEnvoy other = fleet.replica(2).connect("other");
    fleet.pass(1_000);
    FakeEnvoy second = fleet.replica(2).connect("e");
    fleet.pass(2_000);
    first.disconnect();
    fleet.envoys.remove(first); // it has ended
    for (int i = 0; i < 17; i++) {
      fleet.replica(2).load("e", 1, 5, 5);
      fleet.pass(1_000);
    }
    assertThat(second.share("up") + other.share("up")).isEqualTo(20);
  }

  @Test
  void loadReportsOfAFailedReplicaEnd() {
    fleet.replica(2).connect("e");
    fleet.pass(1_000);
    fleet.replica(1).load("e", 1, 9, 0);
    fleet.replica(2).load("e", 1, 5, 0);
    fleet.pass(300);
    assertThat(inFlight()).isEqualTo(14);
    fleet.replica(1).steering.left("e", 1);
    fleet.pass(300);
    assertThat(inFlight()).isEqualTo(5);
  }

  @Test
  void aShareIsPushedOnlyAfterItsRecordWasPublished() {
    fleet.pass(1_000);
    Replica steering = fleet.steeringOne();
    steering.network = Network.DOWN;
    FakeEnvoy envoy = steering.connect("e");
    fleet.pass(1_000);
    assertThat(envoy.share("up")).isEqualTo(-1);
    steering.network = Network.UP;
    fleet.pass(1_500);
    assertThat(envoy.share("up")).isEqualTo(20);
  }

  @Test
  void aReplacedReplicaPublishesNothing() {
    fleet.limit = 20;
    Replica first = fleet.replica(0);
    first.connect("a");
    FakeEnvoy second = fleet.replica(1).connect("b");
    fleet.pass(1_000);
    first.network = Network.HELD;
    first.connect("c"); // a plan that is on its way
    fleet.pass(3_000);
    assertThat(fleet.replica(1).steers() || fleet.replica(2).steers()).isTrue();
    long number = fleet.replica(1).steering.figures().plan().number();
    int share = second.share("up");
    first.deliver();
    assertThat(fleet.replica(1).steering.figures().plan().number()).isEqualTo(number);
    fleet.pass(2_000);
    assertThat(first.steers()).isFalse();
    assertThat(first.events.ended).isEqualTo(1);
    assertThat(second.share("up")).isLessThanOrEqualTo(share);
    assertThat(fleet.applied()).isEqualTo(20);
  }

  @Test
  void aReplicaThatIsCutOffSendsItsEnvoysAway() {
    fleet.limit = 20;
    Replica cut = fleet.replica(1);
    FakeEnvoy envoy = cut.connect("e");
    fleet.pass(1_000);
    cut.network = Network.DOWN;
    fleet.pass(4_900);
    assertThat(envoy.ended()).isFalse();
    fleet.pass(700);
    assertThat(envoy.failure()).contains("UNAVAILABLE");
    assertThat(cut.events.cutOffs).isEqualTo(1);
    assertThat(cut.steering.figures().cutOff()).isTrue();
    FakeEnvoy again = cut.reconnect("e", envoy);
    assertThat(again.failure()).contains("UNAVAILABLE");
    FakeEnvoy moved = fleet.replica(2).reconnect("e", envoy);
    fleet.envoys.remove(again);
    fleet.pass(300);
    assertThat(moved.share("up")).isEqualTo(20);
    cut.network = Network.UP;
    fleet.pass(2_000);
    FakeEnvoy back = cut.connect("f");
    fleet.pass(1_000);
    assertThat(back.share("up") + moved.share("up")).isEqualTo(20);
    assertThat(back.share("up")).isPositive();
  }

  @Test
  void theSteeringReplicaThatIsCutOffCeasesToSteer() {
    Replica cut = fleet.steeringOne();
    fleet.pass(1_000);
    cut.network = Network.DOWN;
    fleet.pass(6_000);
    assertThat(cut.events.ended).isEqualTo(1);
    assertThat(fleet.steeringOne()).isNotSameAs(cut);
    cut.network = Network.UP;
    fleet.pass(2_000);
    assertThat(fleet.steeringOne()).isNotSameAs(cut);
  }

  /** Its last records may still arrive: the next ones must not have their numbers. */
  @Test
  void aTermThatEndedWhileTheStoreWasAwayIsNotContinued() {
    use(1, "min: 20, max: 20");
    Replica only = fleet.replica(0);
    only.connect("a");
    fleet.pass(1_000);
    long epoch = only.steering.figures().epoch();
    only.network = Network.HELD;
    only.connect("b"); // a record that is on its way
    fleet.pass(7_000);
    assertThat(only.events.cutOffs).isEqualTo(1);
    only.network = Network.UP;
    fleet.pass(4_000);
    assertThat(only.steering.figures().epoch()).isGreaterThan(epoch);
    only.connect("c");
    fleet.pass(1_000);
    long number = only.steering.figures().plan().number();
    only.deliver();
    fleet.pass(1_000);
    assertThat(only.steering.figures().planEpoch()).isGreaterThan(epoch);
    assertThat(only.steering.figures().plan().number()).isEqualTo(number);
  }

  @Test
  void aReplicaThatWasSuspendedDuringAVisitKeepsItsEnvoys() {
    Replica suspended = fleet.replica(1);
    FakeEnvoy envoy = suspended.connect("e");
    fleet.pass(1_000);
    suspended.network = Network.HELD;
    fleet.pass(100);
    fleet.time.advance(30_000);
    suspended.network = Network.UP;
    fleet.pass(3_000);
    assertThat(suspended.events.failures).as("the visit of before").isEqualTo(1);
    assertThat(suspended.events.cutOffs).isZero();
    assertThat(envoy.ended()).isFalse();
  }

  @Test
  void aStreamGetsNothingFromAnEarlierRecordWhileTheNewestIsUnreadable() {
    FakeEnvoy envoy = fleet.replica(1).connect("e");
    fleet.pass(1_000);
    fleet.replicas.forEach(replica -> replica.network = Network.DOWN);
    fleet.pass(2_000);
    long epoch = visitOfAnotherVersion(null).epoch();
    long number = fleet.replica(0).steering.figures().plan().number() + 1;
    Record unreadable = new Record(epoch, number, "of another version");
    assertThat(visitOfAnotherVersion(unreadable).published()).isTrue();
    fleet.replicas.forEach(replica -> replica.network = Network.UP);
    FakeEnvoy moved = fleet.replica(2).reconnect("e", envoy);
    for (int i = 0; i < 4; i++) {
      fleet.pass(500);
      visitOfAnotherVersion(null);
    }
    assertThat(fleet.replica(2).events.rejections).hasSize(1);
    assertThat(moved.share("up")).isEqualTo(-1);
  }

  /** Makes a visit of a replica that steers and is of another version. */
  private Answer visitOfAnotherVersion(@Nullable Record record) {
    return fleet
        .exchange
        .visit(new Visit("other", 9, "", 0, 0, record, false))
        .toCompletableFuture()
        .join();
  }

  @Test
  void aStoreThatIsAwayForTwoSecondsChangesNothing() {
    fleet.limit = 20;
    FakeEnvoy a = fleet.replica(1).connect("a");
    FakeEnvoy b = fleet.replica(2).connect("b");
    fleet.pass(1_000);
    fleet.replicas.forEach(replica -> replica.network = Network.DOWN);
    fleet.pass(2_000);
    fleet.replicas.forEach(replica -> replica.network = Network.UP);
    fleet.pass(3_000);
    assertThat(a.ended() || b.ended()).isFalse();
    assertThat(a.share("up")).isEqualTo(10);
    assertThat(b.share("up")).isEqualTo(10);
  }

  @ParameterizedTest
  @EnumSource(names = {"DOWN", "ANSWERS_LOST"})
  void lostVisitsDelayButChangeNothing(Network faulty) {
    fleet.limit = 20;
    FakeEnvoy a = fleet.replica(1).connect("a");
    FakeEnvoy b = fleet.replica(2).connect("b");
    for (int i = 0; i < 40; i++) {
      for (Replica replica : fleet.replicas) {
        replica.network = (i + replica.id.charAt(0)) % 3 == 0 ? faulty : Network.UP;
      }
      if (i == 20) {
        fleet.replica(1).connect("c");
      }
      fleet.pass(300);
    }
    fleet.replicas.forEach(replica -> replica.network = Network.UP);
    fleet.pass(2_000);
    assertThat(fleet.applied()).isEqualTo(20);
    assertThat(List.of(a.share("up"), b.share("up"))).allMatch(share -> share >= 6);
  }

  @Test
  void aReplicaThatStopsLetsAnotherOneSteerAtOnce() {
    fleet.limit = 20;
    FakeEnvoy envoy = fleet.replica(1).connect("e");
    fleet.pass(1_000);
    Replica first = fleet.steeringOne();
    first.close();
    fleet.replicas.remove(first);
    fleet.pass(100);
    assertThat(fleet.steeringOne()).isNotSameAs(first);
    assertThat(envoy.share("up")).isEqualTo(20);
  }

  /** They still apply their shares, whatever is in flight now. */
  @Test
  void sharesOfTheEnvoysOfAStoppedReplicaStayReserved() {
    fleet.limit = 20;
    fleet.replica(1).connect("e");
    FakeEnvoy other = fleet.replica(2).connect("other");
    fleet.pass(1_000);
    Replica stopped = fleet.replica(1);
    stopped.close();
    fleet.replicas.remove(stopped);
    for (int second = 0; second < 10; second++) {
      fleet.replica(0).load("e", 7, 0, 0);
      fleet.pass(1_000);
    }
    assertThat(other.share("up")).isEqualTo(10);
  }

  /** It ended their streams itself, so they still apply their shares. */
  @Test
  void sharesOfTheEnvoysOfAReplicaThatWasCutOffStayReserved() {
    fleet.limit = 20;
    fleet.replica(1).connect("e");
    FakeEnvoy other = fleet.replica(2).connect("other");
    fleet.pass(1_000);
    Replica cut = fleet.replica(1);
    cut.network = Network.ANSWERS_LOST; // so that its reports arrive
    fleet.pass(5_500);
    assertThat(cut.events.cutOffs).isEqualTo(1);
    cut.network = Network.UP;
    for (int second = 0; second < 8; second++) {
      fleet.replica(0).load("e", 7, 0, 0);
      fleet.pass(1_000);
    }
    assertThat(other.share("up")).isEqualTo(10);
  }

  @Test
  void twoProcessesWithOneIdAreReportedAndDivideCorrectly() {
    fleet.limit = 20;
    Replica twin = fleet.start("b", 99);
    twin.steering.follow(book("min: 20, max: 20"));
    fleet.replica(1).connect("e");
    twin.connect("f");
    fleet.pass(9_000);
    assertThat(fleet.replica(0).events.sameIds).as("it may be a restart").isEmpty();
    fleet.pass(3_000);
    assertThat(fleet.replica(0).events.sameIds).contains("b");
    assertThat(fleet.applied()).isEqualTo(20);
  }

  @Test
  void theIdOfTheSteeringReplicaIsNoticedByItsTwin() {
    Replica twin = fleet.start("a", 99);
    twin.steering.follow(book("min: 20, max: 20"));
    fleet.pass(9_000);
    assertThat(twin.events.sameIds).isEmpty();
    fleet.pass(3_000);
    assertThat(twin.events.sameIds).contains("a");
    assertThat(fleet.replica(0).events.sameIds).contains("a");
  }

  @Test
  void aRestartUnderTheSameIdIsNotReported() {
    fleet.pass(20_000);
    fleet.replica(1).crash();
    fleet.start("b", 99).steering.follow(book("min: 20, max: 20"));
    fleet.pass(30_000);
    fleet.replicas.forEach(replica -> assertThat(replica.events.sameIds).isEmpty());
  }

  @Test
  void aReplicaWithoutRulesServesEnvoysButDoesNotSteer() {
    fleet.limit = 20;
    fleet.replica(0).steering.follow(PolicyBook.of(Map.of()));
    fleet.pass(3_000);
    assertThat(fleet.steeringOne()).isNotSameAs(fleet.replica(0));
    FakeEnvoy envoy = fleet.replica(0).connect("e");
    fleet.pass(1_000);
    assertThat(envoy.share("up")).isEqualTo(20);
  }

  /** So that a service without such rules opens no connection for them. */
  @Test
  void aReplicaWithoutRulesAndEnvoysMakesNoVisit() {
    Replica idle = fleet.start("idle", 99);
    idle.network = Network.DOWN;
    fleet.pass(10_000);
    idle.close();
    fleet.replicas.remove(idle);
    assertThat(idle.events.failures).isZero();
    assertThat(idle.visits).isZero();
  }

  @Test
  void aRuleThatAllReplicasRemoveIsWithdrawn() {
    FakeEnvoy envoy = fleet.replica(1).connect("e");
    fleet.pass(1_000);
    fleet.replicas.forEach(replica -> replica.steering.follow(PolicyBook.of(Map.of())));
    fleet.pass(1_000);
    assertThat(envoy.share("up")).isEqualTo(-1);
  }

  @Test
  void limitsOfACrashedFleetAreWithdrawnByReplicasWithoutRules() {
    fleet.pass(1_000);
    fleet.replica(0).crash();
    fleet.replicas.forEach(replica -> replica.steering.follow(PolicyBook.of(Map.of())));
    FakeEnvoy envoy = fleet.replica(0).connect("e");
    fleet.pass(11_000);
    assertThat(fleet.replica(0).steering.figures().plan().limits()).isNotEmpty();
    fleet.pass(4_000);
    assertThat(envoy.share("up")).isEqualTo(-1);
    assertThat(fleet.replica(0).steering.figures().plan().limits()).isEmpty();
  }

  @Test
  void onlyTheSteeringReplicaReportsFigures() {
    fleet.replica(1).connect("e");
    fleet.pass(1_000);
    List<Acknowledgements> all = new ArrayList<>();
    fleet.replicas.forEach(replica ->
        replica.steering.forEachAcknowledged((_, acknowledged) -> all.add(acknowledged)));
    assertThat(all).containsExactly(new Acknowledgements(1, 0, 0));
    List<Long> reserved = new ArrayList<>();
    fleet.replicas.forEach(
        replica -> replica.steering.forEachReserved((_, requests) -> reserved.add(requests)));
    assertThat(reserved).containsExactly(20L);
    assertThat(fleet.replica(0).steering.figures().holders().values()).containsExactly("b");
  }

  private int inFlight() {
    List<Integer> seen = new ArrayList<>();
    fleet.replica(0).steering.forEach((_, figures) -> seen.add(figures.inFlight()));
    return seen.getFirst();
  }

  /** Sends a second in which the whole limit is in flight. */
  private void full(String node, Replica logs, Replica loads) {
    loads.load(node, 1, 100, 100);
    for (int half = 0; half < 2; half++) {
      fleet.pass(500);
      logs.answered(node, 20, 50);
    }
  }

  private void use(String terms) {
    use(3, terms);
  }

  private void use(int replicas, String terms) {
    fleet.close();
    fleet = new SteeringFleet(replicas, book(terms));
  }

  private static PolicyBook book(String terms) {
    return Book.of(
        """
        domain: shop
        descriptors:
          - {key: up, concurrency: {gate: envoy, cluster: up, %s}}
        """
            .formatted(terms));
  }
}
