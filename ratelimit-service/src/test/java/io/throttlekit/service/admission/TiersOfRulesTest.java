package io.throttlekit.service.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Calls of the tiers for a rule. */
class TiersOfRulesTest {
  private static final PolicyBook BOOK =
      Book.of(
          """
          domain: d
          descriptors:
            - {key: strict, rate_limit: {unit: minute, requests_per_unit: 2, on_data_loss: deny}}
            - key: leased
              rate_limit:
                unit: minute
                requests_per_unit: 2
                on_data_loss: deny
                tier: leased
                lease: {size: 2}
            - {key: cached, rate_limit: {unit: minute, requests_per_unit: 2, tier: cached_deny}}
            - {key: exact, rate_limit: {unit: minute, requests_per_unit: 2, tier: strict}}
            - {key: plain, rate_limit: {unit: minute, requests_per_unit: 2}}
            - {key: over, rate_limit: {unit: minute, requests_per_unit: 2, overdraft: true}}
            - {key: error, rate_limit: {unit: minute, requests_per_unit: 2, on_outage: error}}
            - {key: deny, rate_limit: {unit: minute, requests_per_unit: 2, on_outage: deny}}
            - {key: allow, rate_limit: {unit: minute, requests_per_unit: 2, on_outage: allow}}
            - {key: local, rate_limit: {unit: minute, requests_per_unit: 2, on_outage: local}}
          """);

  private final ManualTime time = new ManualTime(0);
  private final RecordingStore store = new RecordingStore(new InMemoryStore(time, 1_000));

  private final Tiers kept = AdmissionFixture.tiers(store, time);

  /** Records its calls. */
  private static final class RecordingStore implements CounterStore {
    final List<Claim> claims = new ArrayList<>();
    final List<LeaseRequest> leases = new ArrayList<>();
    private final InMemoryStore store;
    boolean failing;
    boolean silent;

    RecordingStore(InMemoryStore store) {
      this.store = store;
    }

    @Override
    public CompletionStage<Outcome> acquire(List<Claim> asked, long waitNanos) {
      claims.addAll(asked);
      return failing
          ? CompletableFuture.failedFuture(new StoreException("gone", null))
          : store.acquire(asked);
    }

    @Override
    public CompletionStage<LeaseGrant> lease(LeaseRequest request) {
      leases.add(request);
      return silent ? new CompletableFuture<>() : store.lease(request);
    }

    @Override
    public CompletionStage<Void> returnUnits(LeaseRequest lease, long windowEndMillis, long units) {
      return store.returnUnits(lease, windowEndMillis, units);
    }

    @Override
    public CompletionStage<Void> reset(CounterKey key, RateAlgorithm<?> algorithm) {
      return store.reset(key, algorithm);
    }

    @Override
    public void close() {}
  }

  @Test
  void onDataLossOfARuleReachesTheStore() {
    submit("strict");
    submit("plain");
    submit("leased");
    assertThat(store.claims)
        .extracting(Claim::onDataLoss)
        .containsExactly(DataLoss.DENY, DataLoss.REFILL);
    assertThat(store.leases).extracting(LeaseRequest::onDataLoss).containsExactly(DataLoss.DENY);
  }

  @Test
  void aLeasedRuleIsDecidedByItsLease() {
    for (long remaining : new long[] {1, 0, 0}) {
      Verdict verdict = submit("leased").verdict();
      assertThat(verdict.decidedBy()).isEqualTo(DecidedBy.LEASE);
      assertThat(verdict.remaining()).isEqualTo(remaining);
    }
    assertThat(store.claims).isEmpty();
    assertThat(store.leases).hasSize(1);
  }

  @Test
  void aRefusalIsCachedIfTheRuleOrTheServiceConfiguresIt() {
    assertThat(decidedByThirdAttempt("cached", false)).isEqualTo(DecidedBy.CACHED_DENIAL);
    assertThat(decidedByThirdAttempt("plain", false)).isEqualTo(DecidedBy.STORE);
    time.advance(60_000);
    assertThat(decidedByThirdAttempt("plain", true)).isEqualTo(DecidedBy.CACHED_DENIAL);
    assertThat(decidedByThirdAttempt("exact", true)).isEqualTo(DecidedBy.STORE);
    assertThat(decidedByThirdAttempt("over", true)).isEqualTo(DecidedBy.STORE);
  }

  @Test
  void anOutageIsAnsweredByOnOutageOfTheRule() {
    store.failing = true;
    assertThat(submit("error").failure).hasMessage("gone");
    assertThat(submit("deny").verdict().refused()).isTrue();
    assertThat(submit("allow").verdict().decidedBy()).isEqualTo(DecidedBy.OUTAGE);
    assertThat(List.of(submit("local"), submit("local"), submit("local")))
        .extracting(callback -> callback.verdict().refused())
        .containsExactly(false, false, true);
  }

  @Test
  void theWaitForALeaseIsBoundedByTheCallersTimeout() {
    List<Long> timers = new ArrayList<>();
    Tiers tiers =
        new Tiers(
            store,
            time,
            (nanos, _) -> timers.add(nanos),
            new TierSettings(1_000, 10_000_000, 1),
            TierListener.NONE);
    store.silent = true;
    timers.clear();
    PolicyAdmission admission = admission(tiers, false);
    RateLimitRequest request =
        new RateLimitRequest("d", List.of(AdmissionFixture.charge("leased")), 1);
    assertThat(admission.decide(request, new NeverLater())).isNull();
    assertThat(admission.decide(request, new ShortTimeoutCallback())).isNull();
    assertThat(timers)
        .as("the two requests, and the repeated lease")
        .containsExactlyInAnyOrder(10_000_000L, 250_000_000L, 2_000_000L);
  }

  private record ShortTimeoutCallback() implements AnswerCallback {
    @Override
    public void answered(Answer answer) {
      throw new AssertionError("answered");
    }

    @Override
    public void failed(Throwable cause) {
      throw new AssertionError(cause);
    }

    @Override
    public long waitTimeoutNanos() {
      return 2_000_000;
    }
  }

  private DecidedBy decidedByThirdAttempt(String key, boolean cachedDenyDefault) {
    PolicyAdmission admission = admission(AdmissionFixture.tiers(store, time), cachedDenyDefault);
    submit(admission, key);
    submit(admission, key);
    submit(admission, key);
    return submit(admission, key).verdict().decidedBy();
  }

  private RecordingCallback submit(String key) {
    return submit(admission(kept, false), key);
  }

  private static RecordingCallback submit(PolicyAdmission admission, String key) {
    RateLimitRequest request = new RateLimitRequest("d", List.of(AdmissionFixture.charge(key)), 1);
    return RecordingCallback.of(admission, request);
  }

  private PolicyAdmission admission(Tiers tiers, boolean cachedDenyDefault) {
    return new PolicyAdmission(
        () -> BOOK,
        tiers,
        Setup.gate(time),
        Setup.NATIVE,
        cachedDenyDefault,
        Setup.metrics(() -> BOOK, new InMemoryStore(time, 1_000)));
  }
}
