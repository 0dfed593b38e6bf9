package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that units of answers which nothing waits for any more count once, and are not lost. */
class FederationLateAnswersTest {
  private static final CounterKey KEY = CounterKey.of("shop/10000", "user", "a");
  private static final CounterKey REGIONAL = KEY.inScope("eu/shop/10000");
  private static final long START = 1_700_000_000_000L;
  private static final long END = START + 10_000;
  private static final long WAIT = 500;

  private final FixedWindow hundred = new FixedWindow(100, 10_000);
  private final ManualTime time = new ManualTime(START + 10);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final HeldCoordinator coordinator = new HeldCoordinator(time);
  private final HeldEscrow escrow = new HeldEscrow(time);
  private final RecordingFederationListener listener = new RecordingFederationListener();
  private final List<LeaseGrant> late = new ArrayList<>();
  private final Federation federation =
      new Federation(
          coordinator,
          escrow,
          new Clocks(time, timer),
          new FederationSettings("eu", "n1", 3, WAIT, 1_000),
          listener);

  @Test
  void aLateGrantOfTheCoordinatorIsCreditedAndItsRestGoesToTheEscrow() {
    coordinator.calls.hold();
    CompletableFuture<LeaseGrant> answer = lease(8, 1_000);
    pass(WAIT);
    assertThat(answer).isCompletedExceptionally();
    assertThat(late).isEmpty();
    coordinator.calls.answerAll();
    assertThat(late).extracting(LeaseGrant::units).containsExactly(8L);
    assertThat(late.getFirst().windowEndMillis()).isEqualTo(END);
    assertThat(listener.events).contains("coordinator 24 of 24", "refilled 16");
    assertThat(lease(20, 20).join().units()).as("those of the escrow").isEqualTo(16);
    assertThat(lease(100, 100).join().units()).as("the rest of the window").isEqualTo(76);
  }

  @Test
  void aLateGrantOfTheEscrowIsCreditedBesideThatOfTheCoordinator() {
    escrow.escrow.refill(new EscrowRefill(REGIONAL, "x", END, START, END, 5));
    escrow.calls.hold();
    CompletableFuture<LeaseGrant> answer = lease(8, 8);
    pass(99);
    assertThat(answer).isNotDone();
    pass(200);
    assertThat(answer.join().units()).as("of the coordinator").isEqualTo(8);
    escrow.calls.answerAll();
    assertThat(late).extracting(LeaseGrant::units).containsExactly(5L);
    assertThat(listener.events).contains("escrow 5 of 8");
  }

  @Test
  void aLateAnswerOfAnEmptyEscrowCreditsNothing() {
    escrow.calls.hold();
    CompletableFuture<LeaseGrant> answer = lease(8, 8);
    pass(300);
    assertThat(answer).isDone();
    escrow.calls.answerAll();
    assertThat(late).isEmpty();
    assertThat(listener.events).contains("escrow 0 of 8");
  }

  @Test
  void unitsThatTheEscrowCertainlyDidNotReceiveAreKept() {
    escrow.refillCalls.refuse();
    assertThat(lease(8, 1_000).join().units()).isEqualTo(8);
    assertThat(late).extracting(LeaseGrant::units).containsExactly(16L);
    assertThat(late.getFirst().left()).isEqualTo(84);
    assertThat(listener.events).doesNotContain("refilled 16", "lost 16 REFILL");
  }

  @Test
  void aRefillThatIsAnsweredLateIsReportedOnce() {
    escrow.refillCalls.hold();
    assertThat(lease(8, 1_000).join().units()).isEqualTo(8);
    pass(WAIT);
    assertThat(listener.events).doesNotContain("refilled 16");
    escrow.refillCalls.answerAll();
    assertThat(listener.events).containsOnlyOnce("refilled 16").doesNotContain("lost 16 REFILL");
    assertThat(late).isEmpty();
    assertThat(lease(20, 20).join().units()).isEqualTo(16);
  }

  @Test
  void aRefillWithoutAnAnswerIsLostWithItsWindowAndNotSpentHere() {
    escrow.refillCalls.hold();
    assertThat(lease(8, 1_000).join().units()).isEqualTo(8);
    for (int second = 0; second < 11; second++) {
      pass(1_000);
    }
    assertThat(listener.events).containsOnlyOnce("lost 16 REFILL");
    assertThat(late).isEmpty();
  }

  @Test
  void unitsThatTheEscrowReleasesLateAreReturnedToo() {
    var _ = lease(8, 1_000);
    escrow.calls.hold();
    CompletableFuture<Object> returned = returnUnits(5);
    pass(WAIT);
    assertThat(returned).isCompletedWithValue(true);
    assertThat(coordinator.returns).extracting(BudgetReturn::units).containsExactly(5L);
    escrow.calls.answerAll();
    assertThat(coordinator.returns).extracting(BudgetReturn::units).containsExactly(5L, 16L);
    assertThat(lease(100, 100).join().units()).as("all but 3 that were spent").isEqualTo(97);
  }

  @Test
  void aLateReleaseOfNothingReturnsNothing() {
    escrow.calls.hold();
    assertThat(lease(8, 8)).isNotDone();
    pass(300);
    assertThat(returnUnits(5)).isNotDone();
    pass(WAIT);
    escrow.calls.answerAll();
    assertThat(coordinator.returns).extracting(BudgetReturn::units).containsExactly(5L);
  }

  @Test
  void aReturnWithoutAnAnswerIsRepeatedAndCountsOnce() {
    assertThat(lease(8, 8).join().units()).isEqualTo(8);
    coordinator.calls.fail(true);
    assertThat(returnUnits(5)).isCompletedWithValue(false);
    coordinator.calls.fail(false);
    pass(1_000);
    assertThat(coordinator.returns).hasSize(2);
    assertThat(listener.events).containsOnlyOnce("returned 5 true").doesNotContain("lost 5 RETURN");
    assertThat(lease(100, 100).join().units()).isEqualTo(97);
  }

  @Test
  void aReturnTellsWhetherItsUnitsCount() {
    var _ = lease(8, 8);
    assertThat(returnUnits(5)).isCompletedWithValue(true);
    time.advance(10_000);
    assertThat(returnUnits(3)).as("after their window").isCompletedWithValue(false);
  }

  @Test
  void aMismatchOfTermsEndsAnOutage() {
    var _ = lease(8, 8);
    Federation us =
        new Federation(
            coordinator,
            null,
            new Clocks(time, timer),
            new FederationSettings("us", "n9", 1, WAIT, 1_000),
            listener);
    LeaseRequest other = request(new FixedWindow(50, 10_000), 8, 8);
    coordinator.calls.failAfterwards(); // it may have acted, so the next call continues this one
    assertThat(us.lease(other, _ -> {}).toCompletableFuture()).isCompletedExceptionally();
    coordinator.calls.answerAgain();
    listener.events.clear();
    assertThat(us.lease(other, _ -> {}).toCompletableFuture()).isCompletedExceptionally();
    assertThat(listener.events).hasSize(2).first().isEqualTo("answers true");
    assertThat(listener.events.getLast()).startsWith("mismatch: region us");
  }

  private CompletableFuture<LeaseGrant> lease(long units, long usable) {
    return federation
        .lease(request(hundred, units, usable), answer -> late.add(answer.value()))
        .thenApply(Answered::value)
        .toCompletableFuture();
  }

  private CompletableFuture<Object> returnUnits(long units) {
    return federation
        .returnUnits(request(hundred, units, units), END, units)
        .<Object>thenApply(taken -> taken)
        .toCompletableFuture();
  }

  private static LeaseRequest request(FixedWindow window, long units, long usable) {
    Terms terms = new Terms("shop", List.of(window));
    return new LeaseRequest(
        KEY,
        window,
        units,
        DataLoss.REFILL,
        null,
        LeaseRequest.CURRENT,
        units,
        usable,
        terms,
        false);
  }

  /** Lets time pass, and what is due happen. */
  private void pass(long millis) {
    for (long each = 0; each < millis; each += 10) {
      time.advance(Math.min(10, millis - each));
      timer.run();
    }
  }
}
