package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.ConcurrencyRule;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.server.Book;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.InMemoryConcurrencyCoordinator;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Replicas of the service, each of which divides its share among its tenants; in virtual time. */
class TenantReplicasTest {
  private static final int LIMIT = 40;

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final AtomicLong incarnations = new AtomicLong();
  private final InMemoryConcurrencyCoordinator store =
      new InMemoryConcurrencyCoordinator(time, Coordination.DEFAULT);
  private final Rule rule =
      Book.of(
              """
              domain: d
              descriptors:
                - key: k
                  concurrency: {min: %d, max: %d, lease: {ttl: 1h}, fair_share: {tenant: org}}
              """
                  .formatted(LIMIT, LIMIT))
          .rules()
          .getFirst();

  /** Else it would keep one permit more than are in flight, and its tenants parts of those. */
  @Test
  void aReplicaThatHoldsRequestsBackKeepsItsShare() {
    ConcurrencyLimiter one = replica("a");
    ConcurrencyLimiter other = replica("b");
    List<RequestPermit> flooding = new ArrayList<>();
    List<RequestPermit> alone = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) { // 10 s
      light(one);
      flood(one, flooding);
      flood(other, alone);
      time.advance(10);
      timer.run();
    }
    assertThat(share(one)).isEqualTo(LIMIT / 2);
    assertThat(share(other)).isEqualTo(LIMIT / 2);
    assertThat(flooding).as("a quarter of the share").hasSize(LIMIT / 8);
    assertThat(alone).hasSize(LIMIT / 2);
    flooding.forEach(RequestPermit::cancelled);
    for (int i = 0; i < 500; i++) {
      light(one);
      flood(other, alone);
      time.advance(10);
      timer.run();
    }
    assertThat(share(one)).as("none is held back any more").isLessThan(LIMIT / 4);
    assertThat(alone).hasSize(LIMIT - share(one));
  }

  /** Three tenants with a short request each. */
  private void light(ConcurrencyLimiter replica) {
    for (int i = 0; i < 3; i++) {
      RequestPermit permit = enter(replica, "light " + i).permit;
      if (permit != null) {
        permit.cancelled();
      }
    }
  }

  /** Ends the permits and acquires as many as possible. */
  private void flood(ConcurrencyLimiter replica, List<RequestPermit> permits) {
    permits.forEach(RequestPermit::cancelled);
    permits.clear();
    for (int i = 0; i <= LIMIT; i++) {
      RequestPermit permit = enter(replica, "flood").permit;
      if (permit != null) {
        permits.add(permit);
      }
    }
  }

  private ConcurrencyLimiter replica(String node) {
    Fleet fleet = new Fleet(node, _ -> store, incarnations::incrementAndGet, FleetListener.NONE);
    return new ConcurrencyLimiter(time, timer, ConcurrencyListener.NONE, () -> 1_000, fleet);
  }

  private static int share(ConcurrencyLimiter replica) {
    List<Integer> shares = new ArrayList<>();
    replica.limits().forEachShared(limit -> shares.add(limit.figures().share()));
    return shares.getFirst();
  }

  private Result enter(ConcurrencyLimiter replica, String tenant) {
    return new Result(replica, rule, tenant);
  }

  /** A request and its permit. */
  private static final class Result implements PermitAcquisition.AcquisitionCallback {
    private @Nullable RequestPermit permit;

    Result(ConcurrencyLimiter replica, Rule rule, String tenant) {
      ConcurrencyRule terms = Objects.requireNonNull(rule.concurrency());
      ConcurrencyRule.AtService gate = (ConcurrencyRule.AtService) terms.gate();
      String[] entries = {"k", "v", "org", tenant};
      var _ =
          replica.enter(
              List.of(new ReachedLimit(rule, terms, gate, entries, false, true)), 0, this);
    }

    @Override
    public void entered(PermitAcquisition by, @Nullable RequestPermit held) {
      permit = held;
    }

    @Override
    public void refused(PermitAcquisition by) {}
  }
}
