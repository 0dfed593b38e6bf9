package io.throttlekit.redis;

import static io.throttlekit.redis.Leased.answers;
import static io.throttlekit.redis.Leased.denied;
import static io.throttlekit.redis.Leased.five;
import static io.throttlekit.redis.Leased.lease;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.share.Coordination;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A federation's data in a Cluster of three masters, each with a replica. */
@RealRedis
class RedisFederationClusterTest {
  private static final FederationKeys KEYS = new FederationKeys("", true);

  private final RecordingListener listener = new RecordingListener();
  private RedisNodes nodes;
  private RedisGlobalCoordinator coordinator;

  @BeforeEach
  void start() {
    nodes = RedisNodes.startWithReplicas();
    coordinator = Stores.coordinator(Wanted.cluster(nodes.urls()).deadlines(500, 10_000), listener);
    await("connected", () -> answers(coordinator));
  }

  @AfterEach
  void stop() {
    coordinator.close();
    nodes.close();
  }

  @Test
  void spreadsKeysOverMastersAndReportsItsClock() {
    try (RedisRegionalEscrow escrow =
            Stores.escrow(Stores.clusterWithLongDeadlines(nodes.urls()), StoreListener.NONE);
        RedisConcurrencyCoordinator limits =
            Stores.concurrency(
                Stores.clusterWithLongDeadlines(nodes.urls()),
                Coordination.DEFAULT,
                TimeSource.system())) {
      for (int i = 0; i < 40; i++) {
        long now = answer(escrow.health());
        assertThat(answer(coordinator.health())).isBetween(now - 10_000, now + 10_000);
        assertThat(lease(coordinator, five("user" + i), 9).units()).isEqualTo(5);
        answer(escrow.refill(RedisEscrowTest.refill("user" + i, "1", now, 3)));
        assertThat(answer(escrow.lease(RedisEscrowTest.key("user" + i), 9)).units()).isEqualTo(3);
        assertThat(Heartbeats.beat(limits, "limit" + i, "a", 1).share()).isEqualTo(10);
        assertThat(Heartbeats.beat(limits, "limit" + i, "b", 1).steering()).isEqualTo("a");
      }
    }
    assertThat(nodes.masters())
        .allSatisfy(node -> assertThat(Integer.parseInt(node.command("DBSIZE"))).isGreaterThan(20))
        .allSatisfy(node -> assertThat(node.command("KEYS", "*fleet*")).isNotEmpty());
    assertThat(listener.failures).isEmpty();
  }

  @Test
  void onlyBudgetsOfAMasterThatLostItsDataAreDenied() {
    List<Budget> lost = budgetsOf(0);
    List<Budget> kept = budgetsOf(1);
    lost.forEach(budget -> lease(coordinator, budget, 1));
    kept.forEach(budget -> lease(coordinator, budget, 1));
    nodes.masters().getFirst().command("FLUSHALL");
    assertThat(lost).allSatisfy(budget -> assertThat(deny(budget)).isZero());
    assertThat(kept).allSatisfy(budget -> assertThat(deny(budget)).isEqualTo(1));
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void leasesOfAKilledMasterAreKnownToItsReplica() {
    List<Budget> of = budgetsOf(0);
    of.forEach(budget -> lease(coordinator, budget, 3));
    await(
        "replicated",
        () -> nodes.replica(0).command("DBSIZE").equals(nodes.masters().get(0).command("DBSIZE")));
    nodes.masters().getFirst().kill();
    assertThat(lease(coordinator, budgetsOf(1).getFirst(), 1).units()).isEqualTo(1);
    await("failed over", () -> canLease(of.getFirst()));
    for (Budget budget : of.subList(1, of.size())) {
      assertThat(lease(coordinator, budget, 9).units()).isEqualTo(2);
    }
    assertThat(listener.losses).as("changes that were not replicated").hasSize(1);
  }

  private boolean canLease(Budget budget) {
    try {
      LeaseGrant grant =
          answer(
              coordinator.lease(
                  new BudgetLease(budget, "eu", BudgetLease.CURRENT, 1, DataLoss.REFILL)));
      return grant.units() >= 0;
    } catch (CompletionException _) {
      return false;
    }
  }

  private long deny(Budget budget) {
    return answer(coordinator.lease(denied(budget, BudgetLease.CURRENT, 1))).units();
  }

  /** Returns five budgets in a master's slots. */
  private List<Budget> budgetsOf(int master) {
    List<Budget> budgets = new ArrayList<>();
    for (int i = 0; budgets.size() < 5; i++) {
      Budget budget = five("one" + i);
      if (nodes.masterOf(KEYS.of(budget.party()).slot()) == master) {
        budgets.add(budget);
      }
    }
    return budgets;
  }
}
