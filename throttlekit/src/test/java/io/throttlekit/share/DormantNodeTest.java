package io.throttlekit.share;

import static io.throttlekit.share.Permits.acquire;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limiter.Permit;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Nodes that leave while they have no requests, and requests that wait for their return. */
class DormantNodeTest {
  private static final int LIMIT = 8;
  private static final long DEADLINE = TimeUnit.MILLISECONDS.toNanos(20);

  private final VirtualTime time = new VirtualTime();
  private final InMemoryConcurrencyCoordinator memory =
      new InMemoryConcurrencyCoordinator(
          time, new Coordination(Aggregate.MIN, Allocation.EQUAL, true));
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

        @Override
        public void left() {
          events.add("left");
        }
      };

  @Test
  void aNodeWithoutRequestsLeavesAfterTenSecondsAndSendsNothing() {
    node("a", OnOutage.FAIL_CLOSED);
    time.run(9_999);
    assertThat(link.departures).isEmpty();
    time.run(1_100);
    assertThat(link.departures).containsExactly(new Departure("k", "a", 1, 0));
    assertThat(events).containsExactly("left");
    link.beats.clear();
    time.run(3_600_000);
    assertThat(link.beats).isEmpty();
    assertThat(memory.state("k").isEmpty(time.wallMillis())).isTrue();
  }

  @Test
  void theNextRequestJoinsAtOnceAndWaitsForTheShare() {
    DistributedLimiter node = dormant("a", OnOutage.FAIL_CLOSED);
    List<Permit> permits = new ArrayList<>();
    assertThat(node.arrived()).as("the share is not known").isFalse();
    node.whenJoined(DEADLINE, () -> permits.addAll(acquire(node, LIMIT + 1)));
    assertThat(permits).as("the coordinator answers at once").hasSize(LIMIT);
    assertThat(link.beats).last().extracting(Heartbeat::incarnation).isEqualTo(2L);
    assertThat(link.beats).last().extracting(Heartbeat::sequence).isEqualTo(1L);
    assertThat(node.arrived()).isTrue();
  }

  @Test
  void aRequestThatDoesNotWaitLetsTheNodeJoinWithinAMillisecond() {
    DistributedLimiter node = dormant("a", OnOutage.FAIL_CLOSED);
    assertThat(acquire(node, 1)).isEmpty();
    time.run(1);
    assertThat(acquire(node, LIMIT + 1)).hasSize(LIMIT);
  }

  @Test
  void aRequestWaitsNoLongerThanItsDeadline() {
    DistributedLimiter node = dormant("a", OnOutage.FAIL_CLOSED);
    link.holdsAnswers = true;
    List<Integer> admitted = new ArrayList<>();
    node.whenJoined(DEADLINE, () -> admitted.add(acquire(node, 1).size()));
    time.run(19);
    assertThat(admitted).isEmpty();
    time.run(1);
    assertThat(admitted).containsExactly(0);
    link.answers.forEach(Runnable::run);
    assertThat(admitted).as("it continues once").hasSize(1);
  }

  @Test
  void aRequestWithoutTimeDoesNotWait() {
    DistributedLimiter node = dormant("a", OnOutage.FAIL_CLOSED);
    List<Integer> admitted = new ArrayList<>();
    node.whenJoined(0, () -> admitted.add(acquire(node, 1).size()));
    assertThat(admitted).containsExactly(0);
  }

  @Test
  void requestsDoNotWaitForACoordinatorThatFailed() {
    DistributedLimiter node = dormant("a", OnOutage.FAIL_CLOSED);
    events.clear();
    link.fails = true;
    List<Integer> admitted = new ArrayList<>();
    node.whenJoined(DEADLINE, () -> admitted.add(acquire(node, 1).size()));
    assertThat(admitted).as("the failure ends the wait").containsExactly(0);
    assertThat(events).containsExactly("fenced");
    assertThat(node.figures().fenced()).isTrue();
    assertThat(node.arrived()).as("nothing to wait for").isTrue();
    link.fails = false;
    time.run(1_100);
    assertThat(events).containsExactly("fenced", "unfenced");
    assertThat(acquire(node, LIMIT)).hasSize(LIMIT);
  }

  @Test
  void nodesThatAreLocalOnlyAdmitAtOnce() {
    DistributedLimiter node = dormant("a", OnOutage.LOCAL_ONLY);
    assertThat(node.arrived()).isTrue();
    assertThat(acquire(node, LIMIT + 1)).hasSize(LIMIT);
    time.run(1);
    assertThat(node.figures().share()).isEqualTo(LIMIT);
    assertThat(link.beats).last().extracting(Heartbeat::inFlight).isEqualTo(LIMIT);
  }

  @Test
  void requestsInFlightKeepANodeInTheFleet() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    List<Permit> held = acquire(node, 1);
    time.run(60_000);
    assertThat(link.departures).isEmpty();
    held.getFirst().release();
    time.run(12_000);
    assertThat(link.departures).hasSize(1);
  }

  @Test
  void shortRequestsKeepANodeInTheFleet() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    for (int i = 0; i < 10; i++) {
      acquire(node, 1).getFirst().release(); // without a sample, and none in flight at heartbeats
      time.run(9_000);
    }
    assertThat(link.departures).isEmpty();
  }

  @Test
  void aDormantNodeLeavesItsShareToTheOthers() {
    DistributedLimiter busy = node("a", OnOutage.FAIL_CLOSED);
    node("b", OnOutage.FAIL_CLOSED);
    time.run(3_000);
    acquire(busy, 1);
    assertThat(busy.figures().share()).isEqualTo(LIMIT / 2);
    time.run(12_000);
    assertThat(busy.figures().share()).isEqualTo(LIMIT);
  }

  @Test
  void aNodeDoesNotLeaveBeforeItsHeartbeatsAreAnswered() {
    node("a", OnOutage.FAIL_CLOSED);
    time.run(8_500);
    link.holdsAnswers = true;
    time.run(10_000);
    assertThat(link.departures).as("it would overtake them").isEmpty();
    link.holdsAnswers = false;
    link.answers.forEach(Runnable::run);
    time.run(1_100);
    assertThat(link.departures).hasSize(1);
  }

  @Test
  void anIdleNodeThatWasFencedIsNoLonger() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(5_000);
    link.fails = true;
    time.run(20_000);
    assertThat(events).containsExactly("fenced", "left");
    assertThat(node.figures().fenced()).isFalse();
    link.fails = false;
    assertThat(node.arrived()).as("it asks again").isFalse();
  }

  @Test
  void closingEndsTheWaitForAShare() {
    DistributedLimiter node = dormant("a", OnOutage.FAIL_CLOSED);
    link.holdsAnswers = true;
    List<Integer> admitted = new ArrayList<>();
    node.whenJoined(DEADLINE, () -> admitted.add(acquire(node, 1).size()));
    node.close();
    assertThat(admitted).containsExactly(0);
  }

  @Test
  void onlySoManyRequestsWait() {
    DistributedLimiter node = dormant("a", OnOutage.FAIL_CLOSED);
    link.holdsAnswers = true;
    AtomicLong continued = new AtomicLong();
    for (int i = 0; i < JoinQueue.MAX_WAITING + 1; i++) {
      node.whenJoined(DEADLINE, continued::incrementAndGet);
    }
    assertThat(continued).hasValue(1);
    link.answers.forEach(Runnable::run);
    assertThat(continued).hasValue(JoinQueue.MAX_WAITING + 1);
  }

  @Test
  void anotherAlgorithmStartsAtTheCurrentLimitOfTheNode() {
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED);
    time.run(1);
    List<Integer> starts = new ArrayList<>();
    node.replaceAlgorithms(starting(starts, 4));
    assertThat(starts).isNotEmpty().containsOnly(LIMIT);
    assertThat(acquire(node, LIMIT)).hasSize(4);
  }

  @Test
  void anotherAlgorithmOfAFleetStartsAtItsCurrentLimitAndIsPublishedEarly() {
    Coordination pooled = new Coordination(Aggregate.POOLED, Allocation.EQUAL, true);
    InMemoryConcurrencyCoordinator fleet = new InMemoryConcurrencyCoordinator(time, pooled);
    DistributedLimiter node = node("a", OnOutage.FAIL_CLOSED, fleet, pooled.aggregate());
    time.run(2_500);
    assertThat(node.figures().epoch()).as("it steers").isEqualTo(1);
    List<Integer> starts = new ArrayList<>();
    node.replaceAlgorithms(starting(starts, 4));
    assertThat(starts).isNotEmpty().containsOnly(LIMIT);
    time.run(200);
    assertThat(node.figures().limit()).isEqualTo(4);
    assertThat(acquire(node, LIMIT)).hasSize(4);
  }

  private static IntFunction<ConcurrencyLimit> starting(List<Integer> starts, int limit) {
    return initial -> {
      starts.add(initial);
      return constant(limit);
    };
  }

  private static ConcurrencyLimit constant(int limit) {
    return new AimdLimit(new LimitRange(limit, limit, limit), AimdLimit.Settings.defaults());
  }

  private DistributedLimiter dormant(String id, OnOutage onOutage) {
    DistributedLimiter node = node(id, onOutage);
    time.run(11_100);
    assertThat(link.departures).hasSize(1);
    return node;
  }

  private DistributedLimiter node(String id, OnOutage onOutage) {
    return node(id, onOutage, link, Aggregate.MIN);
  }

  private DistributedLimiter node(
      String id, OnOutage onOutage, ConcurrencyCoordinator coordinator, Aggregate aggregate) {
    return new DistributedLimiter(
        Membership.of("k", id, onOutage),
        coordinator,
        aggregate,
        _ -> constant(LIMIT),
        LIMIT,
        time,
        time,
        listener,
        incarnations::incrementAndGet,
        UnaryOperator.identity());
  }
}
