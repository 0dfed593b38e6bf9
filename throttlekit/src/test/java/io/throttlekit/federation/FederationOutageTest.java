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
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests a coordinator that does not answer, and receives all requests or only probes. */
class FederationOutageTest {
  private static final CounterKey KEY = CounterKey.of("shop/10000", "user", "a");

  /** The same counter in the escrow, which regions may share. */
  private static final CounterKey REGIONAL = KEY.inScope("eu/shop/10000");

  private static final long START = 1_700_000_000_000L;
  private static final String DOWN = "the test's coordinator is down";
  private static final String BREAKER_OPEN =
      "circuit breaker open: the coordinator does not answer";

  private final FixedWindow hundred = new FixedWindow(100, 10_000);
  private final ManualTime time = new ManualTime(START + 10);
  private final HeldCoordinator coordinator = new HeldCoordinator(time);
  private final HeldEscrow escrow = new HeldEscrow(time);
  private final RecordingFederationListener listener = new RecordingFederationListener();
  private final Federation federation =
      new Federation(
          coordinator,
          escrow,
          new Clocks(time, (_, _) -> {}),
          new FederationSettings("eu", "n1", 3, 1_000),
          listener);

  @Test
  void withoutRegionalOnlyEveryLeaseCallsTheCoordinator() {
    coordinator.calls.fail(true);
    assertThat(failureOf(lease(false))).hasMessage(DOWN);
    assertThat(failureOf(lease(false))).hasMessage(DOWN);
    assertThat(coordinator.leases).hasSize(2);
    assertThat(coordinator.probes).isZero();
    assertThat(listener.events)
        .containsSubsequence("answers false", "coordinator failed: " + DOWN)
        .doesNotContain("left alone");
  }

  @Test
  void regionalOnlySkipsAFailedCoordinatorAndSpendsTheEscrow() {
    assertThat(lease(true).join().units()).isEqualTo(8);
    coordinator.calls.fail(true);
    assertThat(lease(true).join().units()).as("of the escrow").isEqualTo(8);
    assertThat(lease(true).join().units()).as("of the escrow").isEqualTo(8);
    assertThat(failureOf(lease(true))).hasMessage(DOWN);
    assertThat(coordinator.leases).hasSize(2);
    assertThat(failureOf(lease(true))).hasMessage(BREAKER_OPEN);
    assertThat(coordinator.leases).as("it was not called").hasSize(2);
    assertThat(listener.events.getLast()).isEqualTo("left alone");
    escrow.escrow.refill(new EscrowRefill(REGIONAL, "x", START + 10_000, START, START + 9_000, 5));
    assertThat(lease(true).join().units()).as("the region's own").isEqualTo(5);
  }

  @Test
  void regionalOnlySkipsLeasesOfTheNextWindow() {
    openBreaker();
    LeaseRequest next = request(START + 20_000, 8, 8, true);
    assertThat(failureOf(federation.lease(next, _ -> {}).toCompletableFuture()))
        .hasMessage(BREAKER_OPEN);
    assertThat(coordinator.leases).hasSize(1);
  }

  @Test
  void theCoordinatorIsProbedOncePerIntervalAndUsedAgainOnceItAnswers() {
    openBreaker();
    time.advance(999);
    var _ = lease(true);
    assertThat(coordinator.probes).isZero();
    time.advance(1);
    var _ = lease(true);
    var _ = lease(true);
    assertThat(coordinator.probes).as("it failed").isEqualTo(1);
    coordinator.calls.fail(false);
    time.advance(999);
    assertThat(failureOf(lease(true))).hasMessage(BREAKER_OPEN);
    time.advance(1);
    assertThat(failureOf(lease(true))).as("this one probes").hasMessage(BREAKER_OPEN);
    assertThat(coordinator.probes).isEqualTo(2);
    assertThat(listener.events).contains("answers true");
    assertThat(lease(true).join().units()).isEqualTo(8);
    assertThat(coordinator.leases).hasSize(2);
  }

  @Test
  void aLateAnswerToAProbeEndsTheOutage() {
    openBreaker();
    coordinator.calls.fail(false);
    coordinator.calls.hold();
    time.advance(1_000);
    assertThat(failureOf(lease(true))).hasMessage(BREAKER_OPEN);
    assertThat(failureOf(lease(true))).hasMessage(BREAKER_OPEN);
    coordinator.calls.answerAll();
    assertThat(lease(true).join().units()).isEqualTo(8);
  }

  @Test
  void anAnswerToAnotherCallerEndsTheOutage() {
    openBreaker();
    coordinator.calls.fail(false);
    assertThat(lease(false).join().units()).isEqualTo(8);
    escrow.escrow.release(REGIONAL, START + 10_000);
    assertThat(lease(true).join().units()).isEqualTo(8);
    assertThat(coordinator.probes).isZero();
  }

  @Test
  void returnsAreSentDuringAnOutage() {
    openBreaker();
    coordinator.calls.fail(false);
    LeaseRequest back = request(START + 10_000, 5, 5, true);
    federation.returnUnits(back, START + 10_000, 5);
    assertThat(coordinator.returns).hasSize(1);
  }

  @Test
  void aReturnDuringAnOutageKeepsTheUnitsOfTheEscrow() {
    openBreaker();
    escrow.escrow.refill(new EscrowRefill(REGIONAL, "x", START + 10_000, START, START + 9_000, 5));
    LeaseRequest back = request(START + 10_000, 5, 5, true);
    federation.returnUnits(back, START + 10_000, 5);
    assertThat(lease(true).join().units()).isEqualTo(5);
  }

  private void openBreaker() {
    coordinator.calls.fail(true);
    assertThat(failureOf(lease(true))).hasMessage(DOWN);
  }

  private CompletableFuture<LeaseGrant> lease(boolean regionalOnly) {
    LeaseRequest ask = request(LeaseRequest.CURRENT, 8, 1_000, regionalOnly);
    return federation.lease(ask, _ -> {}).thenApply(Answered::value).toCompletableFuture();
  }

  private LeaseRequest request(long windowEnd, long units, long usable, boolean regionalOnly) {
    Terms terms = new Terms("shop", List.of(hundred));
    return new LeaseRequest(
        KEY, hundred, units, DataLoss.REFILL, null, windowEnd, units, usable, terms, regionalOnly);
  }

  private static Throwable failureOf(CompletableFuture<?> failed) {
    assertThat(failed).isCompletedExceptionally();
    return StoreException.of(failed.handle((_, failure) -> failure).join());
  }
}
