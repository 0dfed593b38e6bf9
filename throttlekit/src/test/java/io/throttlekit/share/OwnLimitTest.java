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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A node's own terms bound what it applies, whatever the store answers. */
class OwnLimitTest {
  private static final int MAX = 12;
  private static final Coordination POOLED =
      new Coordination(Aggregate.POOLED, Allocation.EQUAL, true);

  private final VirtualTime time = new VirtualTime();
  private final InMemoryConcurrencyCoordinator memory =
      new InMemoryConcurrencyCoordinator(time, POOLED);
  private final HeldCoordinator link = new HeldCoordinator(memory);
  private final AtomicLong incarnations = new AtomicLong();
  private final List<String> events = new ArrayList<>();
  private final MembershipListener listener =
      new MembershipListener() {
        @Override
        public void fenced() {
          events.add("fenced");
        }

        @Override
        public void failed(Throwable why) {
          events.add(String.valueOf(why.getMessage()));
        }

        @Override
        public void granted(ShareGrant grant) {
          events.add("limit " + grant.limit());
        }
      };

  @Test
  void aNodeAppliesAndShowsNoMoreThanTheMostOfItsOwnTerms() {
    FleetNode other = new FleetNode(memory, "s", 1).of("k");
    other.beat(Heartbeat.MAX_REQUESTS, 0);
    DistributedLimiter node = node("a", OnOutage.LOCAL_ONLY, atMost(MAX));
    time.run(1);
    other.beat(Heartbeat.MAX_REQUESTS, 0);
    other.beat(Heartbeat.MAX_REQUESTS, 0); // acknowledges half of the limit
    time.run(1_200);
    assertThat(memory.state("k").limit()).isEqualTo(Heartbeat.MAX_REQUESTS);
    assertThat(node.figures().limit()).isEqualTo(MAX);
    assertThat(node.figures().share()).isEqualTo(MAX);
    assertThat(events).containsOnly("limit 12");
    assertThat(acquire(node, MAX + 1)).hasSize(MAX);
    link.fails = true;
    time.run(5_000);
    assertThat(acquire(node, 1)).as("with a limit of its own").isEmpty();
  }

  @Test
  void aNodeThatBeginsToSteerPublishesNoMoreThanTheMostOfItsOwnTerms() {
    FleetNode other = new FleetNode(memory, "s", 1).of("k");
    other.beat(Heartbeat.MAX_REQUESTS, 0);
    other.leave(0);
    node("a", OnOutage.FAIL_CLOSED, exactly(MAX));
    time.run(300);
    assertThat(memory.state("k").limit()).isEqualTo(MAX);
  }

  @Test
  void aLargerMostIsRolledOutNodeByNode() {
    DistributedLimiter one = node("a", OnOutage.FAIL_CLOSED, exactly(MAX));
    DistributedLimiter other = node("b", OnOutage.FAIL_CLOSED, exactly(MAX));
    time.run(3_000);
    one.replaceAlgorithms(exactly(30));
    time.run(3_000);
    assertThat(memory.state("k").limit()).as("the first one steers").isEqualTo(30);
    assertThat(one.figures().share()).isEqualTo(15);
    assertThat(other.figures().share()).as("by its own terms").isEqualTo(MAX);
    link.beats.clear();
    assertThat(acquire(other, 15)).hasSize(MAX);
    for (int i = 0; i < 20; i++) {
      time.run(100);
      assertThat(other.limiter().tryAcquire()).isNull();
    }
    assertThat(link.beats).as("refusals by its own terms call for nothing").hasSizeLessThan(6);
    other.replaceAlgorithms(exactly(30));
    time.run(200);
    assertThat(acquire(other, 15)).hasSize(3);
    assertThat(acquire(one, 16)).hasSize(15);
  }

  @Test
  void aSmallerMostAppliesAtOnceAndIsRolledOutNodeByNode() {
    DistributedLimiter one = node("a", OnOutage.LOCAL_ONLY, exactly(60));
    DistributedLimiter other = node("b", OnOutage.LOCAL_ONLY, exactly(60));
    time.run(3_000);
    link.fails = true; // so that the steering node can't publish
    other.replaceAlgorithms(exactly(MAX));
    List<Permit> held = acquire(other, 30);
    assertThat(held).hasSize(MAX);
    time.run(5_000);
    assertThat(acquire(other, 30)).isEmpty();
    link.fails = false;
    one.arrived(); // else it leaves
    time.run(3_000);
    assertThat(other.figures().share()).isLessThanOrEqualTo(MAX);
    one.replaceAlgorithms(exactly(MAX));
    time.run(3_000);
    assertThat(memory.state("k").limit()).isEqualTo(MAX);
    assertThat(acquire(one, 1)).as("as many are in flight").isEmpty();
    held.forEach(Permit::release);
    time.run(3_000);
    assertThat(one.figures().share() + other.figures().share()).isEqualTo(MAX);
  }

  @Test
  void theFailureOfAFirstHeartbeatIsNotifiedBeforeTheFence() {
    link.fails = true;
    node("a", OnOutage.FAIL_CLOSED, exactly(MAX));
    time.run(1);
    assertThat(events).containsExactly("it is down", "fenced");
  }

  private static IntFunction<ConcurrencyLimit> exactly(int limit) {
    return _ -> new AimdLimit(new LimitRange(limit, limit, limit), AimdLimit.Settings.defaults());
  }

  private static IntFunction<ConcurrencyLimit> atMost(int max) {
    return initial ->
        new AimdLimit(
            new LimitRange(1, max, Math.min(initial, max)), AimdLimit.Settings.defaults());
  }

  private DistributedLimiter node(
      String id, OnOutage onOutage, IntFunction<ConcurrencyLimit> algorithms) {
    return new DistributedLimiter(
        Membership.of("k", id, onOutage),
        link,
        POOLED.aggregate(),
        algorithms,
        MAX,
        time,
        time,
        listener,
        incarnations::incrementAndGet,
        UnaryOperator.identity());
  }
}
