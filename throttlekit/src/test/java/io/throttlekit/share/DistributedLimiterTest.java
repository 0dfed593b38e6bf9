package io.throttlekit.share;

import static io.throttlekit.share.Permits.acquire;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limiter.Permit;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class DistributedLimiterTest {
  private static final long SECOND = 1_000_000_000;
  private static final int LIMIT = 8;
  private static final Coordination EQUAL = new Coordination(Aggregate.MIN, Allocation.EQUAL, true);

  private final VirtualTime time = new VirtualTime();
  private final InMemoryConcurrencyCoordinator memory =
      new InMemoryConcurrencyCoordinator(time, EQUAL);
  private final HeldCoordinator link = new HeldCoordinator(memory);
  private final List<String> events = new ArrayList<>();
  private final AtomicLong incarnations = new AtomicLong();
  private final MembershipListener listener =
      new MembershipListener() {
        @Override
        public void fenced() {
          events.add("fenced");
        }

        @Override
        public void unfenced() {
          events.add("unfenced");
        }
      };

  @Test
  void nothingIsAdmittedBeforeTheFirstAnswer() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    assertThat(node.limiter().tryAcquire()).isNull();
    time.run(1);
    assertThat(acquire(node, LIMIT + 1)).hasSize(LIMIT);
    assertThat(node.figures()).isEqualTo(new FleetFigures(8, 8, 1, false, "a", 1, false));
  }

  @Test
  void localOnlyAdmitsTheLimitBeforeTheFirstAnswer() {
    link.fails = true;
    DistributedLimiter node = node("a", OnOutage.LOCAL_ONLY);
    assertThat(acquire(node, LIMIT + 1)).hasSize(LIMIT);
  }

  @Test
  void aNodeStopsToAdmitBeforeItsLeaseEndsAndReportsThatOnce() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    link.fails = true;
    time.run(1_498);
    assertThat(acquire(node, 1)).hasSize(1);
    assertThat(events).isEmpty();
    time.run(3); // sent at 1 ms: lease 2000 ms, margin 500 ms
    assertThat(acquire(node, 1)).isEmpty();
    assertThat(node.figures().fenced()).isTrue();
    assertThat(node.figures().share()).isZero();
    time.run(5_000);
    assertThat(events).containsExactly("fenced");
    link.fails = false;
    time.run(1_000);
    assertThat(events).containsExactly("fenced", "unfenced");
    assertThat(acquire(node, LIMIT)).hasSize(LIMIT - 1);
  }

  @Test
  void aProcessThatWasStoppedAdmitsNothingWhenItContinues() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    time.stop(1_500);
    assertThat(acquire(node, 1)).isEmpty();
  }

  @Test
  void localOnlyAdmitsTheLimitWithoutAnAnswer() {
    DistributedLimiter node = node("a", OnOutage.LOCAL_ONLY);
    DistributedLimiter other = node("b", OnOutage.LOCAL_ONLY);
    time.run(3_000);
    assertThat(node.figures().share()).isEqualTo(LIMIT / 2);
    link.fails = true;
    time.run(5_000);
    assertThat(acquire(node, LIMIT + 1)).hasSize(LIMIT);
    assertThat(acquire(other, LIMIT + 1)).hasSize(LIMIT);
    assertThat(events).isEmpty();
  }

  @Test
  void aHealthyNodeIsNeverFenced() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    acquire(node, 1);
    time.run(60_000);
    assertThat(events).isEmpty();
    assertThat(link.beats).as("one each second").hasSizeBetween(60, 62);
  }

  @Test
  void noHeartbeatIsSentEarlyInASteadyState() {
    DistributedLimiter one = node("a", OnOutage.FAIL_CLOSED);
    DistributedLimiter other = node("b", OnOutage.FAIL_CLOSED);
    time.run(5_000);
    List<Permit> held = acquire(one, LIMIT);
    acquire(other, LIMIT);
    link.beats.clear();
    for (int i = 0; i < 100; i++) { // full at an equal share: refusals call for nothing
      time.run(100);
      assertThat(one.limiter().tryAcquire()).isNull();
      held.removeFirst().release();
      held.addAll(acquire(one, 1));
    }
    assertThat(link.beats).hasSizeBetween(19, 21);
  }

  @Test
  void heartbeatsAreFrequentWhileTheSteeringNodeCallsForThemAndLives() {
    FleetNode steering = new FleetNode(memory, "s", 1).of("k");
    steering.beat(LIMIT, 0);
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(500);
    steering.calling(1, LIMIT).beat(LIMIT, 0);
    time.run(600); // until the regular heartbeat
    link.beats.clear();
    time.run(1_000);
    assertThat(link.beats).hasSizeBetween(9, 10);
    steering.publishing(1, LIMIT).beat(LIMIT, 0);
    time.run(150);
    link.beats.clear();
    time.run(5_000);
    assertThat(link.beats).hasSize(5);
    steering.calling(1, LIMIT).beat(LIMIT, 0); // and dies
    node.arrived(); // else it leaves
    time.run(3_000);
    link.beats.clear();
    time.run(5_000);
    assertThat(link.beats).as("its lease has ended").hasSize(5);
  }

  @Test
  void aRefusalBelowAnEqualShareSendsAHeartbeatEarly() {
    node("a", OnOutage.FAIL_CLOSED);
    time.run(500);
    DistributedLimiter joiner = node("b", OnOutage.FAIL_CLOSED);
    time.run(1); // it has joined with a share of 0; the other one has not yet sent a heartbeat
    link.beats.clear();
    time.run(98);
    assertThat(joiner.limiter().tryAcquire()).isNull();
    time.run(1);
    assertThat(link.beats).as("not before the least interval").isEmpty();
    time.run(2);
    assertThat(link.beats).extracting(Heartbeat::node).containsExactly("b");
  }

  @Test
  void aChangedShareIsAcknowledgedEarly() {
    node("a", OnOutage.FAIL_CLOSED);
    time.run(500);
    node("b", OnOutage.FAIL_CLOSED);
    time.run(650); // the regular heartbeat of "a" at 1101 ms has lowered its share
    link.beats.clear();
    time.run(100);
    assertThat(link.beats).extracting(Heartbeat::acknowledged).containsExactly(2L);
    assertThat(link.beats).extracting(Heartbeat::node).containsExactly("a");
  }

  @Test
  void requestsThatEndUnderALoweredShareAreReportedEarly() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    List<Permit> held = acquire(node, LIMIT);
    time.run(500);
    node("b", OnOutage.FAIL_CLOSED);
    time.run(1_600);
    assertThat(node.figures().share()).isEqualTo(LIMIT / 2);
    link.beats.clear();
    held.subList(0, LIMIT / 2 - 1).forEach(Permit::release);
    time.run(50);
    assertThat(link.beats).as("five are still in flight").isEmpty();
    held.get(LIMIT / 2 - 1).release();
    time.run(20);
    assertThat(link.beats).first().extracting(Heartbeat::inFlight).isEqualTo(LIMIT / 2);
  }

  @Test
  void anOlderAnswerDoesNotReplaceANewerOne() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    node("b", OnOutage.FAIL_CLOSED);
    link.holdsAnswers = true;
    time.run(2_000);
    List<Runnable> answers = List.copyOf(link.answers);
    answers.reversed().forEach(Runnable::run);
    assertThat(node.figures().share()).isEqualTo(LIMIT / 2);
  }

  @Test
  void anEvictedNodeJoinsAgainAsANewIncarnation() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    List<Permit> held = acquire(node, 3);
    link.fails = true;
    time.run(4_000);
    link.fails = false;
    time.run(1_200);
    Heartbeat joined =
        link.beats.stream().filter(beat -> beat.incarnation() == 2).findFirst().orElseThrow();
    assertThat(joined.sequence()).isEqualTo(1);
    assertThat(joined.acknowledged()).isZero();
    assertThat(joined.inFlight()).isEqualTo(3);
    assertThat(acquire(node, LIMIT)).hasSize(LIMIT - held.size());
    assertThat(events).containsExactly("fenced", "unfenced");
  }

  @Test
  void anEvictedNodeAdmitsNothingUntilItHasJoinedAgain() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    var _ = memory.leave(new Departure("k", "a", 1, 0));
    link.holdsAnswers = true;
    time.run(1_001);
    assertThat(acquire(node, 1)).as("by its lease").hasSize(1);
    link.answers.removeFirst().run(); // it is evicted
    assertThat(acquire(node, 1)).isEmpty();
    time.run(150);
    assertThat(link.beats.getLast().incarnation()).isEqualTo(2);
    assertThat(acquire(node, 1)).isEmpty();
    link.answers.forEach(Runnable::run);
    assertThat(acquire(node, LIMIT)).hasSize(LIMIT - 1);
  }

  @Test
  void closingLeavesTheFleetAndReservesWhatIsInFlight() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    acquire(node, 3);
    node.close();
    node.close();
    assertThat(link.departures).containsExactly(new Departure("k", "a", 1, 3));
    assertThat(acquire(node, 1)).isEmpty();
    link.beats.clear();
    DistributedLimiter next = node("b", OnOutage.FAIL_CLOSED);
    time.run(1);
    assertThat(next.figures().share()).isEqualTo(LIMIT - 3);
    time.run(5_000);
    assertThat(next.figures().share()).isEqualTo(LIMIT);
    assertThat(link.beats).extracting(Heartbeat::node).containsOnly("b");
  }

  @Test
  void twoNodesWithOneIdDivideTheLimitAndAreNoticed() {
    DistributedLimiter one = node("a", OnOutage.FAIL_CLOSED);
    DistributedLimiter other = node("a", OnOutage.FAIL_CLOSED);
    time.run(3_000);
    assertThat(acquire(one, LIMIT)).hasSize(LIMIT / 2);
    assertThat(acquire(other, LIMIT)).hasSize(LIMIT / 2);
    assertThat(one.figures().sameId()).isTrue();
    other.close();
    time.run(4_000);
    assertThat(one.figures().sameId()).isFalse();
  }

  @Test
  void aCoordinatorThatNeverAnswersGetsABoundedNumberOfHeartbeats() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(200);
    acquire(node, 1); // in use
    link.holdsAnswers = true;
    time.run(60_000);
    assertThat(link.answers).hasSize(4);
    link.answers.forEach(Runnable::run);
    link.holdsAnswers = false;
    time.run(1_100);
    assertThat(events).last().isEqualTo("unfenced");
  }

  @Test
  void aFirstHeartbeatIsNotOvertaken() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    link.holdsAnswers = true;
    time.run(5_000);
    assertThat(link.answers).hasSize(1);
    link.answers.getFirst().run();
    link.holdsAnswers = false;
    time.run(1_100);
    assertThat(acquire(node, LIMIT)).hasSize(LIMIT);
  }

  @Test
  void aHeartbeatThatWaitedForItsTurnIsAsFreshAsAnyOther() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    link.holdsTurns = true;
    time.run(1_400);
    assertThat(link.turns).hasSize(1);
    assertThat(acquire(node, 2)).hasSize(2);
    link.turns.removeFirst().run();
    assertThat(link.beats.getLast().inFlight()).as("when it was sent").isEqualTo(2);
    time.run(1_499);
    assertThat(events).as("its share lasts from then on").isEmpty();
    time.run(2);
    assertThat(events).containsExactly("fenced");
    link.turns.removeFirst().run();
    assertThat(events).as("at once, though it waited").containsExactly("fenced", "unfenced");
  }

  @Test
  void oneHeartbeatWaitsForItsTurnAndNoneIsSentAfterClose() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    int before = link.beats.size();
    link.holdsTurns = true;
    time.run(10_000);
    assertThat(link.turns).hasSize(1);
    node.close();
    link.turns.removeFirst().run();
    assertThat(link.beats).hasSize(before);
  }

  @Test
  void aMembershipHasPossibleTimes() {
    assertThatThrownBy(() -> membership("", SECOND, 2 * SECOND, SECOND / 2))
        .hasMessageContaining("id");
    assertThatThrownBy(() -> membership("a", SECOND, SECOND, 0))
        .hasMessageContaining("longer than a heartbeat");
    assertThatThrownBy(() -> membership("a", SECOND, 2 * SECOND, SECOND))
        .hasMessageContaining("margin");
  }

  private static Membership membership(String node, long heartbeat, long lease, long margin) {
    return new Membership(
        "k", node, heartbeat, lease, 1, margin, Long.MAX_VALUE, 0, OnOutage.FAIL_CLOSED);
  }

  private DistributedLimiter node(String id, OnOutage onOutage) {
    Membership membership = Membership.of("k", id, onOutage);
    return new DistributedLimiter(
        membership,
        link,
        Aggregate.MIN,
        initial ->
            new AimdLimit(new LimitRange(LIMIT, LIMIT, initial), AimdLimit.Settings.defaults()),
        LIMIT,
        time,
        time,
        listener,
        incarnations::incrementAndGet,
        UnaryOperator.identity());
  }
}
