package io.throttlekit.tier;

import static io.throttlekit.tier.Node.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.lease.Tier;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.Node.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Requests of which one of two stores fails: that of limits per second, or the other one. */
class PartialOutageTest {
  private static final FixedWindow SECOND = new FixedWindow(2, 1_000);
  private static final FixedWindow MINUTE = new FixedWindow(2, 60_000);

  private final InMemoryStore counters = new InMemoryStore(new ManualTime(1_000_000), 1_000);
  private final TwoStores stores = new TwoStores();
  private final Node node = new Node(stores, new ManualTime(0), 1_000);

  /** Decides what the store that does not fail can decide, as a routing store does. */
  private final class TwoStores implements CounterStore {
    final List<Integer> requested = new ArrayList<>();
    FixedWindow failing = SECOND;

    @Override
    public CompletionStage<Outcome> acquire(List<Claim> claims, long waitNanos) {
      requested.add(claims.size());
      Set<Integer> failed = new HashSet<>();
      Map<Integer, Decision> decided = new HashMap<>();
      int number = 0;
      for (Claim claim : claims) {
        for (Charge charge : claim.charges()) {
          if (charge.algorithm().equals(failing)) {
            failed.add(number);
          } else if (failing.equals(MINUTE)) { // the store per second was called before
            Claim alone = new Claim(claim.role(), List.of(charge), claim.onDataLoss());
            decided.put(number, counters.decide(List.of(alone)).decisions().getFirst());
          }
          number++;
        }
      }
      StoreException outage = new StoreException("down", null);
      if (failed.isEmpty()) {
        return CompletableFuture.completedFuture(counters.decide(claims));
      }
      return CompletableFuture.failedFuture(
          failed.size() == number
              ? outage
              : outage.ofPart(new StoreException.Part(failed, decided)));
    }

    @Override
    public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
      return CompletableFuture.failedFuture(new StoreException("down", null));
    }

    @Override
    public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  @Test
  void theOtherStoreDecidesTheRestWhenARuleAllows() {
    assertThat(ask(Outage.ALLOW, Outage.ERROR).admitted()).isTrue();
    assertThat(ask(Outage.ALLOW, Outage.ERROR).outcome().decidedBy())
        .containsExactly(DecidedBy.OUTAGE, DecidedBy.STORE);
    assertThat(ask(Outage.ALLOW, Outage.ERROR).admitted()).as("by its own limit").isFalse();
    assertThat(stores.requested).containsExactly(2, 1, 2, 1, 2, 1);
  }

  @Test
  void aRuleThatDeniesRefusesTheRequestWithoutTheOtherStore() {
    assertThat(ask(Outage.DENY, Outage.ERROR).admitted()).isFalse();
    assertThat(stores.requested).containsExactly(2);
    assertThat(node.counted.outages).containsExactly(Outage.DENY);
  }

  @Test
  void aLocalShareOfTheFailedRuleIsAdmitted() {
    assertThat(ask(Outage.LOCAL, Outage.ERROR).admitted()).as("half of the limit").isTrue();
    assertThat(ask(Outage.LOCAL, Outage.ERROR).admitted()).isFalse();
  }

  @Test
  void anErrorFailsTheRequest() {
    Reply reply = ask(Outage.ERROR, Outage.ALLOW);
    assertThat(reply.outcome).isNull();
    assertThat(reply.failure).hasMessage("down");
  }

  @Test
  void decisionsOfTheFirstStoreStayWhenTheSecondFails() {
    stores.failing = MINUTE;
    assertThat(ask(Outage.ERROR, Outage.ALLOW).admitted()).isTrue();
    assertThat(ask(Outage.ERROR, Outage.ALLOW).admitted()).isTrue();
    assertThat(stores.requested).as("none is charged twice").containsExactly(2, 2);
    assertThat(ask(Outage.ERROR, Outage.ALLOW).admitted()).isFalse();
  }

  @Test
  void aRefusalByTheFirstStoreNeedsNoOutagePolicyOfTheSecond() {
    stores.failing = MINUTE;
    assertThat(ask(Outage.ERROR, Outage.ALLOW).admitted()).isTrue();
    assertThat(ask(Outage.ERROR, Outage.ALLOW).admitted()).isTrue();
    assertThat(ask(Outage.ERROR, Outage.ERROR).admitted()).isFalse();
  }

  @Test
  void anOutagePolicyDoesNotAdmitAQuotaThatTheFirstStoreHasRefused() {
    stores.failing = MINUTE;
    // One counter in each store; the store per second has room for 2.
    TieredClaim refused =
        new TieredClaim(
            new Claim(
                Role.QUOTA,
                List.of(
                    new Charge(Node.key("s"), SECOND, 3, Overrun.REFUSE), Node.charge("m", MINUTE)),
                DataLoss.REFILL),
            new Tier.Strict(),
            Outage.ALLOW);
    TieredClaim denied = claim(Role.QUOTA, new Tier.Strict(), Outage.DENY, "other", MINUTE, 1);
    assertThat(node.ask(refused, denied).admitted()).isFalse();
  }

  @Test
  void theOtherStoreDecidesTheRestWhenALeaseFails() {
    Reply reply =
        node.ask(
            claim(Role.ENFORCED, Node.batches(2), Outage.ALLOW, "s", SECOND, 1),
            claim(Role.ENFORCED, new Tier.Strict(), Outage.ERROR, "m", MINUTE, 1));
    assertThat(reply.outcome().decidedBy()).containsExactly(DecidedBy.OUTAGE, DecidedBy.STORE);
    assertThat(stores.requested).containsExactly(1);
  }

  private Reply ask(Outage perSecond, Outage perMinute) {
    return node.ask(
        claim(Role.ENFORCED, new Tier.Strict(), perSecond, "s", SECOND, 1),
        claim(Role.ENFORCED, new Tier.Strict(), perMinute, "m", MINUTE, 1));
  }
}
