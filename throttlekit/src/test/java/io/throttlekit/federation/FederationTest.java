package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.once.Answered;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests where units are requested, and what happens to units beyond the requested ones. */
class FederationTest {
  private static final long WINDOW = 10_000;
  private static final long END = 1_700_000_010_000L;
  private static final long START = END - WINDOW;
  private static final CounterKey KEY = CounterKey.of("shop/10000", "user", "a");

  /** The same counter in the escrow, which regions may share. */
  private static final CounterKey REGIONAL = KEY.inScope("eu/shop/10000");

  private final FixedWindow hundred = new FixedWindow(100, WINDOW);

  /** The process's own clock has no effect, nor has the escrow's, which is hours off. */
  private final ManualTime here = new ManualTime(0);

  private final ManualTime far = new ManualTime(START + 4_000);
  private final ManualTime near = new ManualTime(START + 9_000_000);
  private final HeldCoordinator coordinator = new HeldCoordinator(far);
  private final HeldEscrow escrow = new HeldEscrow(near);
  private final RecordingFederationListener listener = new RecordingFederationListener();
  private final Federation federation = federation("n1", escrow);

  @Test
  void leasesFromTheEscrowFirstThenFromTheCoordinator() {
    assertThat(lease(8, 8).units()).isEqualTo(8);
    assertThat(escrow.leases).containsExactly(8L);
    assertThat(coordinator.leases).hasSize(1);
    escrow.escrow.refill(
        new EscrowRefill(REGIONAL, "x", END, START + 9_000_000, START + 9_005_000, 5));
    assertThat(lease(8, 8))
        .as("by the escrow's clock, and the units left in the escrow are not all")
        .isEqualTo(new LeaseGrant(5, END, 5_000, 10_010, LeaseGrant.UNKNOWN));
    assertThat(coordinator.leases).hasSize(1);
    assertThat(listener.events).contains("escrow 0 of 8", "coordinator 8 of 8", "escrow 5 of 8");
  }

  @Test
  void regionsThatShareAStoreDoNotShareUnits() {
    CounterKey others = KEY.inScope("us/shop/10000");
    escrow.escrow.refill(new EscrowRefill(others, "x", END, START, START + 9_005_000, 5));
    lease(8, 8);
    assertThat(listener.events).contains("escrow 0 of 8", "coordinator 8 of 8");
  }

  @Test
  void aRegionOfOneProcessLeasesOnlyFromTheCoordinator() {
    LeaseGrant units =
        await(lease(federation("n2", null), leaseRequest(LeaseRequest.CURRENT, 8, 50, false)));
    assertThat(units).isEqualTo(new LeaseGrant(8, END, 6_000, 6_000, 92));
    assertThat(escrow.leases).isEmpty();
  }

  @Test
  void unitsOfTheNextWindowAreLeasedFromTheCoordinatorOnly() {
    LeaseGrant units = await(lease(federation, leaseRequest(END + WINDOW, 8, 50, false)));
    assertThat(units).isEqualTo(new LeaseGrant(8, END + WINDOW, 16_000, 16_000, 92));
    assertThat(escrow.leases).isEmpty();
    assertThat(escrow.refills).isEmpty();
  }

  @Test
  void regionalLeasesAreBoundedByTheUsableUnits() {
    lease(8, 8);
    lease(8, 20);
    lease(8, 1_000);
    assertThat(coordinator.leases.stream().map(BudgetLease::units)).containsExactly(8L, 20L);
    escrow.escrow.release(REGIONAL, END).toCompletableFuture().join();
    lease(8, 1_000);
    assertThat(coordinator.leases.getLast().units()).as("three leases").isEqualTo(24);
    assertThat(coordinator.leases.getLast().region()).isEqualTo("eu");
  }

  @Test
  void surplusUnitsGoToTheEscrowAndAreNotSpentTwice() {
    LeaseGrant units = lease(8, 1_000);
    assertThat(units).isEqualTo(new LeaseGrant(8, END, 6_000, 6_000, 92));
    assertThat(coordinator.leases.getLast().units()).isEqualTo(24);
    assertThat(listener.events).contains("refilled 16");
    assertThat(lease(20, 20).units()).isEqualTo(16);
  }

  @Test
  void aRefillInFlightIsAwaitedBeforeTheCoordinatorIsCalled() {
    escrow.refillCalls.postpone();
    lease(8, 1_000);
    CompletionStage<LeaseGrant> second =
        lease(federation, leaseRequest(LeaseRequest.CURRENT, 8, 1_000, false));
    assertThat(coordinator.leases).hasSize(1);
    escrow.refillCalls.answerAll();
    assertThat(await(second).units()).isEqualTo(8);
    assertThat(coordinator.leases).hasSize(1);
    assertThat(listener.events).contains("refilled 16", "escrow 8 of 8");
  }

  @Test
  void theCoordinatorIsCalledWhenARefillFails() {
    escrow.refillCalls.postpone();
    lease(8, 1_000);
    CompletionStage<LeaseGrant> second =
        lease(federation, leaseRequest(LeaseRequest.CURRENT, 8, 1_000, false));
    near.advance(6_000); // their window has ended on arrival
    escrow.refillCalls.answerAll();
    assertThat(await(second).units()).isEqualTo(8);
    assertThat(coordinator.leases).hasSize(2);
    assertThat(listener.events).contains("lost 16 REFILL");
  }

  @Test
  void timesOfARefillAreConvertedToTheEscrowsClockConservatively() {
    escrow.calls.hold();
    CompletableFuture<LeaseGrant> units =
        lease(federation, leaseRequest(LeaseRequest.CURRENT, 8, 1_000, false))
            .toCompletableFuture();
    pass(30); // the escrow was read between 0 and 30 ms
    coordinator.calls.hold();
    escrow.calls.answerAll();
    pass(200); // the coordinator between 30 and 230
    coordinator.calls.answerAll();
    assertThat(units).isCompleted();
    EscrowRefill refill = escrow.refills.getFirst();
    long off = near.wallMillis() - far.wallMillis();
    assertThat(refill.windowEndMillis()).isEqualTo(END);
    assertThat(refill.units()).isEqualTo(16);
    // the duration of one answer, and of the other; the rest is rounding and one in a thousand
    assertThat(refill.beginsMillis()).isBetween(START + off + 200, START + off + 215);
    assertThat(refill.endsMillis()).isBetween(END + off - 45, END + off - 30);
  }

  @Test
  void aSurplusTooLateForTheEscrowIsKept() {
    far.setWall(END - 3);
    assertThat(lease(8, 1_000).units()).isEqualTo(24);
    assertThat(escrow.refills).isEmpty();
  }

  @Test
  void anUnconfirmedRefillIsNotSpentLocally() {
    escrow.refillCalls.failAfterwards();
    LeaseGrant units = lease(8, 1_000);
    assertThat(units.units()).isEqualTo(8);
    assertThat(units.left()).as("in the escrow if the refill arrived").isEqualTo(92);
    assertThat(listener.events)
        .contains("escrow failed: the test's escrow is down")
        .as("no units are lost before their window ends: the refill is resent")
        .doesNotContain("lost 16 REFILL");
    assertThat(lease(20, 20).units()).as("the refill had arrived").isEqualTo(16);
  }

  @Test
  void withoutTheEscrowTheProcessLeasesForItselfOnly() {
    escrow.calls.fail(true);
    assertThat(lease(8, 1_000)).isEqualTo(new LeaseGrant(8, END, 6_000, 6_000, 92));
    assertThat(coordinator.leases.getLast().units()).isEqualTo(8);
    assertThat(escrow.refills).isEmpty();
    assertThat(listener.events).contains("escrow failed: the test's escrow is down");
  }

  @Test
  void escrowUnitsExpireCorrectlyDespiteClockDrift() {
    escrow.escrow.refill(
        new EscrowRefill(REGIONAL, "x", END, START + 8_999_000, START + 9_005_000, 5));
    LeaseGrant units = lease(5, 5);
    assertThat(units.lastsMillis()).isEqualTo(5_000);
    assertThat(units.endsWithinMillis())
        .as("it began a second ago, and lasts a window by a slower clock")
        .isEqualTo(WINDOW - 1_000 + WINDOW / 1_000);
  }

  @Test
  void aTermsMismatchNamesBothRegions() {
    lease(8, 8);
    FixedWindow other = new FixedWindow(50, WINDOW);
    Federation us =
        new Federation(
            coordinator,
            null,
            new Clocks(here, (_, _) -> {}),
            new FederationSettings("us", "n9", 1, 5),
            listener);
    LeaseRequest ask = request(other, LeaseRequest.CURRENT, 8, 8, true);
    assertThatThrownBy(() -> await(lease(us, ask)))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("region us has a budget of 50 per 10000 ms")
        .hasMessageContaining("region eu leased from one of 100 per 10000 ms");
    assertThat(listener.events.getLast()).startsWith("mismatch: region us");
    here.advance(1);
    assertThatThrownBy(() -> await(lease(us, ask))).hasMessageContaining("region us");
    assertThat(coordinator.leases).as("it answers, so its breaker stays closed").hasSize(3);
  }

  @Test
  void aReturnIncludesTheRestOfTheEscrow() {
    lease(8, 1_000);
    await(federation.returnUnits(leaseRequest(END, 5, 5, false), END, 5));
    assertThat(coordinator.returns.getFirst().units()).isEqualTo(21);
    assertThat(coordinator.returns.getFirst().windowEndMillis()).isEqualTo(END);
    assertThat(listener.events.getLast()).isEqualTo("returned 21 true");
    assertThat(lease(100, 100).units()).as("all but 3 that were spent").isEqualTo(97);
  }

  @Test
  void aReturnExcludesUnitsOfAnotherRegion() {
    lease(8, 1_000);
    Federation us =
        new Federation(
            coordinator,
            escrow,
            new Clocks(here, (_, _) -> {}),
            new FederationSettings("us", "n1", 3, 5),
            listener);
    await(us.returnUnits(leaseRequest(END, 5, 5, false), END, 5));
    assertThat(coordinator.returns.getFirst().units()).isEqualTo(5);
    assertThat(lease(20, 20).units()).isEqualTo(16);
  }

  @Test
  void unitsAreReturnedWithoutTheEscrow() {
    lease(8, 8);
    escrow.calls.fail(true);
    await(federation.returnUnits(leaseRequest(END, 5, 5, false), END, 5));
    assertThat(coordinator.returns.getFirst().units()).isEqualTo(5);
  }

  @Test
  void aLateReturnIsReportedAsForfeited() {
    lease(8, 8);
    far.advance(6_000);
    await(federation.returnUnits(leaseRequest(END, 5, 5, false), END, 5));
    assertThat(listener.events).endsWith("returned 5 false", "lost 5 RETURN");
  }

  @Test
  void everyRefillAndReturnHasItsOwnId() {
    Federation other = federation("n2", escrow);
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      for (Federation each : List.of(federation, other)) {
        await(lease(each, leaseRequest(LeaseRequest.CURRENT, 2, 6, false)));
        escrow.escrow.release(REGIONAL, END).toCompletableFuture().join();
        await(each.returnUnits(leaseRequest(END, 1, 1, false), END, 1));
      }
    }
    escrow.refills.forEach(refill -> ids.add(refill.id()));
    coordinator.returns.forEach(back -> ids.add(back.id()));
    assertThat(ids).hasSize(16);
    assertThat(new HashSet<>(ids)).hasSize(16);
  }

  @Test
  void onlyGlobalLimitsAreLeased() {
    LeaseRequest ask = new LeaseRequest(KEY, hundred, 1, DataLoss.REFILL);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> lease(federation("n1", null), ask))
        .withMessage("only limits with scope: global are leased from a federation");
  }

  private Federation federation(String node, @Nullable RegionalEscrow regional) {
    return new Federation(
        coordinator,
        regional,
        new Clocks(here, (_, _) -> {}),
        new FederationSettings("eu", node, 3, 1_000),
        listener);
  }

  private LeaseGrant lease(long units, long usable) {
    return await(lease(federation, leaseRequest(LeaseRequest.CURRENT, units, usable, false)));
  }

  private static CompletionStage<LeaseGrant> lease(Federation federation, LeaseRequest ask) {
    return federation.lease(ask, _ -> {}).thenApply(Answered::value);
  }

  private LeaseRequest leaseRequest(long window, long units, long usable, boolean regionalOnly) {
    return request(hundred, window, units, usable, regionalOnly);
  }

  private static LeaseRequest request(
      FixedWindow window, long windowEnd, long units, long usable, boolean regionalOnly) {
    Terms terms = new Terms("shop", List.of(window));
    return new LeaseRequest(
        KEY, window, units, DataLoss.REFILL, null, windowEnd, units, usable, terms, regionalOnly);
  }

  private void pass(long millis) {
    here.advance(millis);
    far.advance(millis);
    near.advance(millis);
  }

  private static <T> T await(CompletionStage<T> stage) {
    assertThat(stage.toCompletableFuture()).isDone();
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
