package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.lease.GlobalCells;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Answered;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.HeldSource.ReturnedUnits;
import io.throttlekit.tier.Node.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests leases of the next window of a global limit, and answers that come too late. */
class LeasesAheadTest {
  private static final long WINDOW = 10_000;
  private static final long END = 1_010_000;
  private static final long NEXT_END = END + WINDOW;

  private final FixedWindow hundred = new FixedWindow(100, WINDOW);
  private final ManualTime time = new ManualTime(END - WINDOW);
  private final HeldStore store = new HeldStore(new InMemoryStore(time, 10_000));
  private final Coordinator coordinator = new Coordinator();
  private final Node node = new Node(store, coordinator, time, 1_000);

  /** Answers calls when the test decides. */
  private final class Coordinator implements LeaseSource {
    final List<LeaseRequest> leases = new ArrayList<>();
    final List<CompletableFuture<Answered<LeaseGrant>>> answers = new ArrayList<>();
    final List<Consumer<Answered<LeaseGrant>>> late = new ArrayList<>();
    final List<ReturnedUnits> back = new ArrayList<>();

    @Override
    public CompletionStage<Answered<LeaseGrant>> lease(
        LeaseRequest request, Consumer<Answered<LeaseGrant>> toLate) {
      leases.add(request);
      late.add(toLate);
      answers.add(new CompletableFuture<>());
      return answers.getLast();
    }

    @Override
    public CompletionStage<?> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
      back.add(new ReturnedUnits(windowEndMillis, units));
      return CompletableFuture.completedFuture(true);
    }

    void grant(long units, long end) {
      answers.getLast().complete(answer(units, end));
    }

    void failLast() {
      answers.getLast().completeExceptionally(new StoreException(HeldSource.NO_ANSWER, null));
    }
  }

  @Test
  void theNextWindowIsLeasedBeforeItBegins() {
    assertThat(spent(3)).isTrue();
    int before = coordinator.leases.size();
    pass(WINDOW - 200);
    assertThat(coordinator.leases).hasSize(before + 1);
    LeaseRequest ahead = coordinator.leases.getLast();
    assertThat(ahead.windowEndMillis()).isEqualTo(NEXT_END);
    assertThat(ahead.units()).as("as many as were wanted").isEqualTo(3);
    assertThat(node.counted.refills).isEqualTo(1);
    long leased = node.counted.leased;
    coordinator.grant(3, NEXT_END);
    assertThat(node.counted.leased).isEqualTo(leased + 3);
    pass(300);
    assertThat(node.admitted(3, roomy(1))).as("without a call").isEqualTo(3);
    pass(2_000);
    assertThat(node.counted.forfeited).as("of the first window").isEqualTo(7);
  }

  @Test
  void theWindowAfterTheNextIsLeasedToo() {
    assertThat(spent(3)).isTrue();
    pass(WINDOW - 200);
    coordinator.grant(3, NEXT_END);
    pass(300);
    assertThat(node.admitted(3, roomy(1))).isEqualTo(3);
    int before = coordinator.leases.size();
    pass(WINDOW - 300);
    assertThat(coordinator.leases).hasSize(before + 1);
    assertThat(coordinator.leases.getLast().windowEndMillis()).isEqualTo(NEXT_END + WINDOW);
  }

  @Test
  void aFailedLeaseOfTheNextWindowIsRepeatedByTheSweep() {
    assertThat(spent(3)).isTrue();
    pass(WINDOW - 200);
    int before = coordinator.leases.size();
    assertThat(node.counted.failed).isZero();
    coordinator.failLast();
    assertThat(node.counted.failed).isEqualTo(1);
    node.tiers.leases.sweep();
    assertThat(coordinator.leases).as("due, and none is in flight").hasSize(before + 1);
    assertThat(coordinator.leases.getLast().windowEndMillis()).isEqualTo(NEXT_END);
    node.tiers.leases.sweep();
    assertThat(coordinator.leases).as("one is in flight").hasSize(before + 1);
  }

  @Test
  void unitsOfTheNextWindowThatArriveAfterItAreReturned() {
    assertThat(spent(3)).isTrue();
    pass(WINDOW - 200);
    pass(WINDOW + 300);
    coordinator.grant(3, NEXT_END);
    assertThat(coordinator.back).contains(new ReturnedUnits(NEXT_END, 3));
    assertThat(node.counted.late).isEqualTo(3);
  }

  @Test
  void lateUnitsOfTheNextWindowAreThoseOfTheNextWindow() {
    assertThat(spent(3)).isTrue();
    pass(WINDOW - 200);
    coordinator.failLast();
    coordinator.late.getLast().accept(answer(3, NEXT_END));
    node.tiers.close();
    assertThat(coordinator.back)
        .containsExactlyInAnyOrder(new ReturnedUnits(END, 7), new ReturnedUnits(NEXT_END, 3));
  }

  @Test
  void nothingIsLeasedAheadAfterTheEnd() {
    assertThat(spent(3)).isTrue();
    int before = coordinator.leases.size();
    node.tiers.close();
    pass(WINDOW);
    assertThat(coordinator.leases).hasSize(before);
  }

  @Test
  void lateUnitsServeTheRequestsThatWait() {
    assertThat(node.ask(roomy(1)).isThere()).isFalse();
    coordinator.failLast();
    assertThat(node.counted.failed).isEqualTo(1);
    Reply waits = node.ask(roomy(4));
    assertThat(waits.isThere()).isFalse();
    long leased = node.counted.leased;
    coordinator.late.getFirst().accept(answer(10, END));
    assertThat(waits.admitted()).isTrue();
    assertThat(node.counted.leased).isEqualTo(leased + 10);
    assertThat(node.admitted(6, roomy(1))).isEqualTo(6);
  }

  @Test
  void lateUnitsOfACellThatWasReplacedGoToItsSuccessor() {
    assertThat(node.ask(roomy(1)).isThere()).isFalse();
    coordinator.failLast();
    suspend();
    Reply waits = node.ask(roomy(4));
    assertThat(waits.isThere()).isFalse();
    coordinator.late.getFirst().accept(answer(10, END));
    assertThat(waits.admitted()).isTrue();
    assertThat(node.admitted(6, roomy(1))).isEqualTo(6);
    assertThat(coordinator.back).isEmpty();
  }

  @Test
  void lateUnitsOfACellWithOtherOptionsAreReturned() {
    assertThat(node.ask(roomy(1)).isThere()).isFalse();
    coordinator.failLast();
    Tier.Global other = GlobalCells.tier(hundred, new LeaseSize.Fixed(20), 0, 0);
    Reply waits = node.ask(claim(Role.ENFORCED, other, "roomy", hundred, 4));
    coordinator.late.getFirst().accept(answer(10, END));
    assertThat(waits.isThere()).isFalse();
    assertThat(coordinator.back).containsExactly(new ReturnedUnits(END, 10));
  }

  @Test
  void aLateAnswerWithoutUnitsChangesNothing() {
    assertThat(node.ask(roomy(1)).isThere()).isFalse();
    coordinator.failLast();
    Reply waits = node.ask(roomy(4));
    coordinator.late.getFirst().accept(answer(0, END));
    assertThat(waits.isThere()).isFalse();
  }

  @Test
  void unitsThatWereLeasedAheadAreReturnedWhenTheyAreIdle() {
    Tier.Global idle = GlobalCells.tier(hundred, new LeaseSize.Fixed(10), 0, 2_000);
    Reply reply = node.ask(claim(Role.ENFORCED, idle, "roomy", hundred, 3));
    coordinator.grant(10, END);
    assertThat(reply.admitted()).isTrue();
    pass(1_990);
    assertThat(coordinator.back).isEmpty();
    pass(1_000);
    assertThat(coordinator.back).containsExactly(new ReturnedUnits(END, 7));
  }

  /** Lets a first request spend units of a lease of ten. */
  private boolean spent(long units) {
    Reply reply = node.ask(roomy(units));
    coordinator.grant(10, END);
    return reply.admitted();
  }

  private void suspend() {
    time.setWall(time.wallMillis() + 1_000);
    node.tiers.leases.sweep();
    time.setWall(time.wallMillis() - 1_000);
  }

  private Answered<LeaseGrant> answer(long units, long end) {
    long left = units == 0 ? 0 : 50;
    LeaseGrant grant = new LeaseGrant(units, end, time.wallMillis(), left);
    return new Answered<>(grant, time.monotonicNanos());
  }

  private TieredClaim roomy(long cost) {
    Tier.Global tier = GlobalCells.tier(hundred, new LeaseSize.Fixed(10), 0, 0);
    return claim(Role.ENFORCED, tier, "roomy", hundred, cost);
  }

  private void pass(long millis) {
    for (long each = 0; each < millis; each += 10) {
      time.advance(10);
      node.timer.run();
    }
  }
}
