package io.throttlekit.redis;

import static io.throttlekit.redis.Leased.budget;
import static io.throttlekit.redis.Leased.denied;
import static io.throttlekit.redis.Leased.lease;
import static io.throttlekit.redis.Leased.returnUnits;
import static io.throttlekit.redis.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A coordinator whose Redis has lost its data. */
@RealRedis
class RedisCoordinatorEpochTest {
  private static final long WINDOW = 10_000;
  private static final long END = 1_700_000_010_000L;
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(END - 6_000);
  private final Budget budget = budget("a", 5, WINDOW);
  private final RecordingListener listener = new RecordingListener();
  private final List<RedisGlobalCoordinator> opened = new ArrayList<>();

  @AfterEach
  void close() {
    opened.forEach(RedisGlobalCoordinator::close);
  }

  @Test
  void theFirstUseOfARedisIsNoLoss() {
    assertThat(deny(open(), BudgetLease.CURRENT)).isEqualTo(1);
    assertThat(deny(open(), BudgetLease.CURRENT)).isEqualTo(1);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void budgetsStartAgainAfterALossUnlessALeaseDenies() {
    RedisGlobalCoordinator coordinator = open();
    lease(coordinator, budget, 4);
    redis.flush();
    assertThat(deny(coordinator, BudgetLease.CURRENT)).isZero();
    assertThat(lease(coordinator, budget, 9)).isEqualTo(new LeaseGrant(5, END, END - 6_000, 0));
    assertThat(listener.losses).containsExactly(END - 6_000);
  }

  @Test
  void grantsNothingOfWindowsThatCouldBeLeasedBeforeTheLoss() {
    RedisGlobalCoordinator coordinator = open();
    lease(coordinator, budget, 1);
    redis.flush();
    assertThat(deny(coordinator, BudgetLease.CURRENT)).isZero();
    assertThat(deny(coordinator, END + WINDOW)).isZero();
    clock.setWall(END);
    assertThat(deny(coordinator, BudgetLease.CURRENT)).as("the former next window").isZero();
    assertThat(deny(open(), BudgetLease.CURRENT)).as("in every process").isZero();
    assertThat(deny(coordinator, END + 2 * WINDOW)).isEqualTo(1);
    clock.setWall(END + WINDOW);
    assertThat(deny(coordinator, BudgetLease.CURRENT)).isEqualTo(1);
  }

  @Test
  void aDeniedLeaseNamesItsWindow() {
    RedisGlobalCoordinator coordinator = open();
    lease(coordinator, budget, 1);
    redis.flush();
    assertThat(answer(coordinator.lease(denied(budget, BudgetLease.CURRENT, 1))))
        .isEqualTo(new LeaseGrant(0, END, END - 6_000, 0));
  }

  @Test
  void unitsLeasedBeforeALossCannotBeReturned() {
    RedisGlobalCoordinator coordinator = open();
    LeaseGrant before = lease(coordinator, budget, 5);
    redis.flush();
    lease(coordinator, budget, 5);
    assertThat(answer(returnUnits(coordinator, budget, "eu", "1", before))).isFalse();
    assertThat(lease(coordinator, budget, 5).units()).isZero();
    clock.setWall(END + WINDOW);
    LeaseGrant after = lease(coordinator, budget, 5);
    assertThat(answer(returnUnits(coordinator, budget, "eu", "2", after))).isTrue();
    assertThat(lease(coordinator, budget, 5).units()).isEqualTo(5);
  }

  @Test
  void aLossIsDetectedAlthoughANewProcessConnectedFirst() {
    clock.setWall(TimeSource.system().wallMillis()); // an epoch is named by Redis's own clock
    RedisGlobalCoordinator old = open();
    lease(old, budget, 1);
    redis.flush();
    RedisGlobalCoordinator fresh = open();
    assertThat(deny(fresh, BudgetLease.CURRENT)).as("not notified of the loss").isEqualTo(1);
    assertThat(deny(old, BudgetLease.CURRENT)).isZero();
    assertThat(deny(fresh, BudgetLease.CURRENT)).isZero();
    assertThat(listener.losses).hasSize(2);
  }

  @Test
  void aLossIsDetectedOnReconnect() {
    try (RedisProcess other = RedisProcess.start()) {
      RedisGlobalCoordinator coordinator =
          Stores.coordinator(Stores.longDeadlines(other.url()), listener);
      opened.add(coordinator);
      lease(coordinator, budget, 1);
      other.kill();
      other.restart();
      StoreCalls.await("notified of the loss", () -> listener.losses.size() == 1);
    }
  }

  @Test
  void anEscrowThatLostItsDataIsEmptyAndReportsALoss() {
    try (RedisRegionalEscrow escrow = Stores.escrow(Stores.longDeadlines(redis.url()), listener)) {
      long now = answer(escrow.health());
      assertThat(answer(escrow.refill(RedisEscrowTest.refill("a", "1", now, 5)))).isTrue();
      redis.flush();
      assertThat(answer(escrow.lease(RedisEscrowTest.key("a"), 1)).units()).isZero();
      assertThat(listener.losses).hasSize(1);
    }
  }

  private long deny(RedisGlobalCoordinator coordinator, long windowEnd) {
    return answer(coordinator.lease(denied(budget, windowEnd, 1))).units();
  }

  private RedisGlobalCoordinator open() {
    RedisGlobalCoordinator coordinator =
        new RedisGlobalCoordinator(
            Stores.following(clock, Stores.longDeadlines(redis.url()).settings(), listener));
    Stores.awaitReady(coordinator.ready());
    opened.add(coordinator);
    return coordinator;
  }
}
