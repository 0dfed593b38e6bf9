package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static io.throttlekit.tier.Node.leased;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.lease.LeaseCell;
import io.throttlekit.lease.LeaseWaiter;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.Node.Reply;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WaitTimeoutsTest {
  private static final long WINDOW = 10_000;

  private final FixedWindow ten = new FixedWindow(10, WINDOW);
  private final ManualTime storeTime = new ManualTime(1_000_000);
  private final HeldStore store = new HeldStore(new InMemoryStore(storeTime, 10_000));
  private final Node node = new Node(store);

  @Test
  void waitsAreBoundedByTheTimeoutAndLateGrantsAreCredited() {
    store.hold();
    Reply reply = node.ask(claim(Role.ENFORCED, Node.batches(5), Outage.DENY, "a", ten, 1));
    advance(Node.PATIENCE_MILLIS - 1);
    node.timer.run();
    assertThat(reply.isThere()).isFalse();
    advance(1);
    node.timer.run();
    assertThat(reply.admitted()).isFalse();
    store.answerOne();
    assertThat(node.counted.leased).isEqualTo(5);
    assertThat(node.admitted(5, claim(Role.ENFORCED, Node.batches(5), "a", ten, 1))).isEqualTo(5);
    assertThat(store.leases).hasSize(1);
  }

  @Test
  void answeredRequestsAreReleasedAtOnceAndShareOneTimer() {
    for (int i = 0; i < 100; i++) {
      store.hold();
      Reply reply = node.ask(leased(new FixedWindow(1_000, WINDOW), 1, 1));
      assertThat(reply.isThere()).isFalse();
      store.answerAll();
      assertThat(reply.admitted()).isTrue();
    }
    assertThat(node.tiers.timeouts.size()).isEqualTo(1);
    assertThat(node.timer.size())
        .as("the sweep of the cells, that of calls to repeat, and one more")
        .isEqualTo(3);
  }

  @Test
  void timedOutRequestsAreNotRetainedByTheirCell() {
    store.hold();
    TieredClaim claim = claim(Role.ENFORCED, Node.batches(5), Outage.DENY, "a", ten, 1);
    for (int i = 0; i < 30_000; i++) {
      var _ = node.ask(claim);
    }
    LeaseCell cell =
        node.tiers.leases.cell(claim.claim().charges().getFirst(), Node.batches(5), false);
    Collection<LeaseWaiter> waiters = cell.takeWaiters();
    assertThat(waiters).hasSize(30_000);
    waiters.forEach(waiter -> assertThat(cell.await(waiter)).isTrue());
    advance(Node.PATIENCE_MILLIS);
    node.timer.run();
    assertThat(node.tiers.timeouts.size()).isZero();
    assertThat(cell.takeWaiters()).isEmpty();
  }

  @Test
  void timedOutRequestsAreNotifiedAfterOthersWereAnswered() {
    store.hold();
    Reply first = node.ask(claim(Role.ENFORCED, Node.batches(5), Outage.DENY, "a", ten, 1));
    advance(2);
    Reply second = node.ask(claim(Role.ENFORCED, Node.batches(5), Outage.DENY, "b", ten, 1));
    store.answerOne();
    advance(Node.PATIENCE_MILLIS - 2);
    node.timer.run();
    assertThat(first.admitted()).isTrue();
    assertThat(second.isThere()).isFalse();
    advance(2);
    node.timer.run();
    assertThat(second.admitted()).isFalse();
    assertThat(node.tiers.timeouts.size()).isZero();
  }

  @Test
  void aRequestThatTimesOutWhileItIsProcessedDoesNotWaitAgain() {
    Reply reply = new Reply();
    TieredClaim claim = claim(Role.ENFORCED, Node.batches(5), Outage.DENY, "a", ten, 1);
    TieredRequest request = new TieredRequest(node.tiers, List.of(claim), reply);
    request.timeOut();
    assertThat(request.start()).isNull();
    assertThat(reply.admitted()).isFalse();
    assertThat(reply.decidedBy()).isEqualTo(DecidedBy.OUTAGE);
    assertThat(store.leases).isEmpty();
  }

  @Test
  void aShorterTimeoutExpiresBeforeEarlierRequests() {
    store.hold();
    Reply waitingCall = node.ask(waiting("a"));
    Reply hasty = node.ask(new Reply(millis(2)), waiting("a"));
    Reply hastier = node.ask(new Reply(millis(1)), waiting("b"));
    Reply longer = node.ask(new Reply(millis(60_000)), waiting("b"));
    advance(1);
    node.timer.run();
    assertThat(hastier.admitted()).isFalse();
    assertThat(hasty.isThere()).isFalse();
    advance(1);
    node.timer.run();
    assertThat(hasty.admitted()).isFalse();
    assertThat(waitingCall.isThere()).isFalse();
    advance(Node.PATIENCE_MILLIS - 2);
    node.timer.run();
    assertThat(waitingCall.admitted()).isFalse();
    assertThat(longer.admitted()).as("waits are bounded by the settings").isFalse();
    assertThat(node.tiers.timeouts.size()).isZero();
    assertThat(node.timer.size())
        .as("the sweep of the cells, and that of calls to repeat")
        .isEqualTo(2);
  }

  @Test
  void aRequestWithoutRemainingTimeTimesOutAtTheNextTick() {
    store.hold();
    Reply reply = node.ask(new Reply(0), waiting("a"));
    assertThat(reply.isThere()).isFalse();
    advance(1);
    node.timer.run();
    assertThat(reply.decidedBy()).isEqualTo(DecidedBy.OUTAGE);
  }

  @Test
  void theStoresDeadlineIsTheSmallerOfCallerAndSettings() {
    TieredClaim strict = claim(Role.ENFORCED, new Tier.Strict(), "a", ten, 1);
    node.ask(new Reply(millis(2)), strict);
    node.ask(new Reply(millis(60_000)), strict);
    node.ask(new Reply(), strict);
    node.ask(new Reply(0), strict);
    assertThat(store.waits)
        .containsExactly(millis(2), millis(Node.PATIENCE_MILLIS), millis(Node.PATIENCE_MILLIS), 0L);
  }

  @Test
  void timeSpentWaitingForALeaseReducesTheStoresDeadline() {
    store.hold();
    TieredClaim strict = claim(Role.ENFORCED, new Tier.Strict(), "b", ten, 1);
    Reply reply = node.ask(new Reply(millis(4)), waiting("a"), strict);
    advance(3);
    store.answerAll();
    assertThat(reply.admitted()).isTrue();
    assertThat(store.waits).containsExactly(millis(1));
  }

  private TieredClaim waiting(String user) {
    return claim(Role.ENFORCED, Node.batches(5), Outage.DENY, user, ten, 1);
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void advance(long millis) {
    storeTime.advance(millis);
    node.time.advance(millis);
  }
}
