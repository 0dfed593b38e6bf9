package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class InMemoryConcurrencyCoordinatorTest extends ConcurrencyCoordinatorConformance {
  private final ManualTime time = new ManualTime(1_000_000);

  @Override
  protected ConcurrencyCoordinator open(Coordination terms) {
    time.advance(1_000); // a clock at 0 would hide overflows
    return new InMemoryConcurrencyCoordinator(time, terms);
  }

  @Override
  protected void advance(long millis) {
    time.advance(millis);
  }

  @Test
  void keepsAMaximumOfLimitsAndReplacesThoseWithoutNodes() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    int most = InMemoryConcurrencyCoordinator.MAX_LIMITS;
    for (int i = 0; i < most; i++) {
      new FleetNode(coordinator, "a", 1).of("key" + i).withLease(i == 7 ? 10 : 1_000).beat(8, 0);
    }
    FleetNode another = new FleetNode(coordinator, "a", 1).of("another");
    assertThat(coordinator.heartbeat(another.next(8, 0, 0)).toCompletableFuture())
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("there are 10000 concurrency limits already");
    assertThat(new FleetNode(coordinator, "b", 1).of("key0").beat(8, 0).nodes())
        .as("known limits go on")
        .isEqualTo(2);
    time.advance(11);
    assertThat(another.after(0).beat(8, 0).share()).isEqualTo(8);
    assertThat(coordinator.heartbeat(new FleetNode(coordinator, "a", 1).next(8, 0, 0)))
        .as("one limit made room")
        .satisfies(stage -> assertThat(stage.toCompletableFuture()).isCompletedExceptionally());
  }

  @Test
  void aLeaseLastsForItsTimeAndNoLonger() {
    ConcurrencyCoordinator coordinator = coordinator(ACKNOWLEDGED);
    FleetNode a = new FleetNode(coordinator, "a", 1).withLease(500);
    FleetNode b = new FleetNode(coordinator, "b", 1);
    a.beat(8, 0);
    time.advance(500);
    assertThat(b.beat(8, 0)).extracting(ShareGrant::share, ShareGrant::nodes).containsExactly(0, 2);
    time.advance(1);
    assertThat(b.beat(8, 0)).extracting(ShareGrant::share, ShareGrant::nodes).containsExactly(8, 1);
  }

  @Test
  void nodesTakeTurnsWithFewerPermitsThanBusyNodes() {
    ConcurrencyCoordinator coordinator = coordinator(Coordination.DEFAULT);
    FleetNode[] nodes = new FleetNode[5];
    int[] turns = new int[nodes.length];
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = new FleetNode(coordinator, "n" + i, 1);
    }
    int busy = 4; // the last one has no requests
    for (int second = 0; second < 100; second++) {
      int sum = 0;
      for (int i = 0; i < nodes.length; i++) {
        int share = nodes[i].refusing(i < busy ? 3 : 0).beat(2, 0).share();
        turns[i] += share;
        sum += share;
      }
      assertThat(sum).as("at %s s", second).isLessThanOrEqualTo(2);
      time.advance(1_000);
    }
    for (int i = 0; i < busy; i++) {
      assertThat(turns[i]).as("n%s", i).isBetween(25, 50);
    }
    assertThat(turns[busy]).isLessThan(5);
  }
}
