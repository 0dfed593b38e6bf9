package io.throttlekit.share;

import static io.throttlekit.share.Permits.acquire;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limiter.Permit;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Nodes whose requests may go on when they have died. */
class RemnantNodeTest {
  private static final long SECOND = 1_000_000_000;
  private static final int LIMIT = 8;
  private static final Coordination EQUAL = new Coordination(Aggregate.MIN, Allocation.EQUAL, true);

  private final VirtualTime time = new VirtualTime();
  private final InMemoryConcurrencyCoordinator memory =
      new InMemoryConcurrencyCoordinator(time, EQUAL);
  private final HeldCoordinator link = new HeldCoordinator(memory);
  private final HeldCoordinator otherLink = new HeldCoordinator(memory);
  private final AtomicLong incarnations = new AtomicLong();

  @Test
  void afterADeathTheOthersAdmitWhatIsNotReservedUntilThePermitsHaveEnded() {
    DistributedLimiter dying = node("a", link, 60);
    DistributedLimiter other = node("b", otherLink, 60);
    time.run(3_000);
    int inFlight = acquire(dying, LIMIT).size();
    assertThat(inFlight).isEqualTo(LIMIT / 2);
    List<Permit> others = acquire(other, LIMIT);
    assertThat(others).hasSize(LIMIT - inFlight);
    link.fails = true;
    time.run(58_000);
    assertThat(acquire(other, LIMIT)).isEmpty();
    time.run(7_000);
    assertThat(acquire(other, LIMIT)).as("after lease and time to live").hasSize(inFlight);
  }

  @Test
  void aFencedNodeThatComesBackReleasesItsRemnant() {
    DistributedLimiter node = node("a", link, 3_600);
    DistributedLimiter other = node("b", otherLink, 3_600);
    time.run(3_000);
    List<Permit> held = acquire(node, LIMIT);
    link.fails = true;
    time.run(5_000);
    assertThat(reserved()).isEqualTo(LIMIT);
    link.fails = false;
    time.run(3_000);
    assertThat(link.departures).hasSize(1);
    assertThat(link.departures.getFirst().inFlight()).isZero();
    assertThat(memory.state("k").nodes()).hasSize(2);
    assertThat(reserved()).isEqualTo(LIMIT);
    held.forEach(Permit::release);
    time.run(3_000);
    assertThat(acquire(node, LIMIT).size() + acquire(other, LIMIT).size()).isEqualTo(LIMIT);
  }

  @Test
  void theRemnantGoesOnlyWhenTheNextIncarnationIsAMember() {
    DistributedLimiter node = node("a", link, 3_600);
    time.run(1);
    acquire(node, LIMIT);
    link.fails = true;
    time.run(5_000);
    link.fails = false;
    link.holdsAnswers = true;
    time.run(2_000);
    link.answers.removeFirst().run(); // evicted
    time.run(2_000);
    assertThat(link.departures).isEmpty();
    link.holdsAnswers = false;
    link.answers.forEach(Runnable::run);
    assertThat(link.departures).hasSize(1);
  }

  @Test
  void aDepartureThatFailsIsRepeatedAFewTimes() {
    DistributedLimiter node = node("a", link, 3_600);
    time.run(1);
    link.failsToLeave = true;
    node.close();
    time.run(1_500);
    assertThat(link.departures).hasSize(2);
    time.run(60_000);
    assertThat(link.departures).hasSize(Departures.MAX_CALLS);
  }

  @Test
  void aFencedNodeThatClosesReservesOnlyWhatIsInFlight() {
    DistributedLimiter node = node("a", link, 3_600);
    time.run(1);
    acquire(node, 3);
    link.fails = true;
    time.run(5_000);
    link.fails = false;
    link.holdsAnswers = true;
    time.run(2_000);
    link.answers.removeFirst().run(); // evicted
    assertThat(memory.state("k").at(millis()).reserved()).isEqualTo(LIMIT);
    node.close();
    assertThat(reserved()).isEqualTo(3);
  }

  @Test
  void requestsThatMayLastLongerAreReportedSoon() {
    DistributedLimiter node = node("a", link, 60);
    time.run(1_500);
    int beats = link.beats.size();
    node.permitsLast(30 * SECOND);
    time.run(200);
    assertThat(link.beats).hasSize(beats);
    node.permitsLast(90 * SECOND);
    time.run(200);
    assertThat(link.beats).hasSize(beats + 1);
    assertThat(link.beats.getLast().permitMillis()).isEqualTo(90_000);
    assertThat(link.beats.getFirst().permitMillis()).isEqualTo(60_000);
  }

  private long reserved() {
    return memory.state("k").at(millis()).reserved();
  }

  private long millis() {
    return time.monotonicNanos() / 1_000_000;
  }

  private DistributedLimiter node(String id, ConcurrencyCoordinator by, long permitSeconds) {
    return new DistributedLimiter(
        Membership.of("k", id).withPermits(permitSeconds * SECOND),
        by,
        Aggregate.MIN,
        initial ->
            new AimdLimit(new LimitRange(LIMIT, LIMIT, initial), AimdLimit.Settings.defaults()),
        LIMIT,
        time,
        time,
        MembershipListener.NONE,
        incarnations::incrementAndGet,
        UnaryOperator.identity());
  }
}
