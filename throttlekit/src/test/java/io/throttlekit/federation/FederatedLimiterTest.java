package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FederatedLimiterTest {
  private static final CounterKey KEY = CounterKey.of("shop/10000", "user", "a");
  private static final long START = 1_700_000_000_000L;
  private static final long WAIT_TIMEOUT = TimeUnit.MILLISECONDS.toNanos(15);

  private final FixedWindow hundred = new FixedWindow(100, 10_000);
  private final ManualTime time = new ManualTime(START);
  private final HeldCoordinator coordinator = new HeldCoordinator(time);
  private final RecordingFederationListener listener = new RecordingFederationListener();
  private final List<Runnable> timers = new ArrayList<>();
  private final FederatedLimiter limiter = limiter("eu");

  @Test
  void admitsTheLimitThenReportsRetryAfter() {
    for (long i = 1; i <= 100; i++) {
      assertThat(charge(1).join()).isEqualTo(Decision.admit(100, 100 - i, 10_010));
    }
    assertThat(charge(1).join()).isEqualTo(Decision.refuse(100, 0, 10_010, 10_010));
    time.advance(10_010);
    assertThat(charge(1).join().admitted()).isTrue();
  }

  @Test
  void severalRegionsAdmitTheLimitTogether() {
    List<FederatedLimiter> all = List.of(limiter, limiter("us"), limiter("ap"));
    long admitted = 0;
    for (int i = 0; i < 200; i++) {
      for (FederatedLimiter each : all) {
        admitted += charge(each, 1, Outage.ERROR).join().admitted() ? 1 : 0;
      }
    }
    assertThat(admitted).isEqualTo(100);
  }

  @Test
  void ofAHundredRequestsWaitingForALeaseOfSixteenSixteenPass() {
    coordinator.calls.hold();
    List<CompletableFuture<Decision>> replies = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      replies.add(charge(1));
    }
    assertThat(coordinator.leases).hasSize(1);
    assertThat(coordinator.leases.getFirst().units()).isEqualTo(16);
    coordinator.calls.answerOne();
    assertThat(replies.stream().filter(CompletableFuture::isDone)).hasSize(16);
    assertThat(coordinator.leases).as("the rest waits for one more call").hasSize(2);
    assertThat(coordinator.leases.getLast().units()).isEqualTo(84);
    coordinator.calls.answerAll();
    assertThat(replies).allMatch(reply -> reply.join().admitted());
    assertThat(charge(1).join().admitted()).isFalse();
  }

  @Test
  void aPeekConsumesNothing() {
    assertThat(charge(0).join()).isEqualTo(Decision.admit(100, 100, 10_010));
    assertThat(charge(100).join().admitted()).isTrue();
    assertThat(charge(0).join()).isEqualTo(Decision.refuse(100, 0, 10_010, 10_010));
  }

  @Test
  void refundsAreBoundedByLocallySpentUnits() {
    assertThat(charge(-50).join().admitted()).as("nothing was spent").isTrue();
    assertThat(coordinator.leases).as("a refund causes no call").isEmpty();
    assertThat(charge(60).join().admitted()).isTrue();
    assertThat(charge(-1_000).join()).isEqualTo(Decision.admit(100, 100, 10_010));
    assertThat(charge(40).join().admitted()).isTrue();
    assertThat(charge(60).join().admitted()).isTrue();
    assertThat(charge(1).join().admitted()).isFalse();
  }

  @Test
  void aCostBeyondTheLimitNeverFits() {
    assertThat(charge(101).join().neverFits()).isTrue();
    assertThat(coordinator.leases).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 5})
  void anOutageIsAnsweredByTheOutageModeOfTheRequest(long cost) {
    coordinator.calls.fail(true);
    assertThat(charge(limiter, cost, Outage.DENY).join())
        .isEqualTo(Decision.refuse(100, 0, 0, 1_000));
    assertThat(charge(limiter, cost, Outage.ALLOW).join()).isEqualTo(Decision.admit(100, 100, 0));
    assertThat(charge(limiter, cost, Outage.LOCAL).join().limit()).as("its share").isEqualTo(50);
    assertThatThrownBy(() -> charge(limiter, cost, Outage.ERROR).join())
        .hasCauseInstanceOf(StoreException.class)
        .hasMessageContaining("the test's coordinator is down");
  }

  @Test
  void inAnOutageThisProcessAdmitsItsShareByItself() {
    coordinator.calls.fail(true);
    long admitted = 0;
    for (int i = 0; i < 100; i++) {
      admitted += charge(limiter, 1, Outage.LOCAL).join().admitted() ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(50);
  }

  @Test
  void leasedUnitsAreSpentFirstInAnOutage() {
    assertThat(charge(1).join().admitted()).isTrue();
    coordinator.calls.fail(true);
    for (int i = 0; i < 15; i++) {
      assertThat(charge(limiter, 1, Outage.DENY).join().admitted()).isTrue();
    }
    assertThat(charge(limiter, 1, Outage.DENY).join().admitted()).isFalse();
  }

  @Test
  void aRequestWaitsAtMostItsTimeout() {
    coordinator.calls.hold();
    CompletableFuture<Decision> reply = charge(limiter, 1, Outage.DENY);
    time.advance(15);
    List.copyOf(timers).forEach(Runnable::run);
    assertThat(reply.join().admitted()).isFalse();
    coordinator.calls.answerAll();
    assertThat(charge(limiter, 1, Outage.DENY).join().admitted()).as("it came late").isTrue();
    assertThat(coordinator.leases).hasSize(1);
  }

  @Test
  void closeReturnsUnitsOfTheCurrentAndTheNextWindow() {
    assertThat(charge(1).join().admitted()).isTrue();
    time.advance(9_950);
    List.copyOf(timers).forEach(Runnable::run);
    assertThat(coordinator.leases.getLast().windowEndMillis()).isEqualTo(START + 20_000);
    limiter.close();
    assertThat(coordinator.returns.stream().map(BudgetReturn::windowEndMillis))
        .containsExactly(START + 10_000, START + 20_000);
    assertThat(coordinator.returns.getFirst().units()).isEqualTo(15);
    long leased = coordinator.leases.getLast().units();
    assertThat(coordinator.returns.getLast().units()).isEqualTo(leased);
    assertThat(listener.events).endsWith("returned 15 true", "returned " + leased + " true");
  }

  @Test
  void aRegionRefusedForNewTermsRetriesAtItsNextRequest() {
    FixedWindow changed = new FixedWindow(200, 10_000);
    FederatedLimiter us = limiter("us");
    assertThat(charge(1).join().admitted()).isTrue();
    assertThat(charge(us, 1, Outage.DENY).join().admitted()).isTrue();
    for (int i = 0; i < 3; i++) {
      assertThat(charge(limiter, changed, 1).join().admitted()).isFalse();
    }
    assertThat(coordinator.leases).as("one call for each request").hasSize(2 + 3);
    assertThat(charge(us, changed, 1).join().admitted()).as("the last to change").isTrue();
    assertThat(charge(limiter, changed, 1).join().admitted()).as("with no wait").isTrue();
  }

  @Test
  void aBudgetOutsideItsTermsIsRefusedAndBlocksNoRequest() {
    FixedWindow other = new FixedWindow(50, 10_000);
    for (int i = 0; i < 2; i++) {
      CompletableFuture<Decision> reply =
          limiter.charge(KEY, other, tier(hundred), 1, Outage.DENY).toCompletableFuture();
      assertThat(reply.join().admitted()).isFalse();
    }
  }

  private FederatedLimiter limiter(String region) {
    Federation federation =
        new Federation(
            coordinator,
            null,
            new Clocks(time, (_, _) -> {}),
            new FederationSettings(region, "n1", 1, 1_000),
            listener);
    return new FederatedLimiter(
        federation,
        time,
        (_, task) -> timers.add(task),
        new TierSettings(100, WAIT_TIMEOUT, 0.5),
        TierListener.NONE);
  }

  private CompletableFuture<Decision> charge(long cost) {
    return charge(limiter, cost, Outage.ERROR);
  }

  private CompletableFuture<Decision> charge(FederatedLimiter from, long cost, Outage outage) {
    return from.charge(KEY, hundred, tier(hundred), cost, outage).toCompletableFuture();
  }

  private static CompletableFuture<Decision> charge(
      FederatedLimiter from, FixedWindow window, long cost) {
    return from.charge(KEY, window, tier(window), cost, Outage.DENY).toCompletableFuture();
  }

  private static Tier.Global tier(FixedWindow window) {
    Terms terms = new Terms("shop", List.of(window));
    return new Tier.Global(new LeaseSize.Fixed(16), 0, 0, terms, DataLoss.REFILL, false);
  }
}
