package io.throttlekit.service.admission;

import static io.throttlekit.service.admission.AdmissionFixture.charge;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.LimitOverride;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import io.throttlekit.store.Claim.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests of tenants that share a limit. */
@ParameterizedClass
@EnumSource
class FairShareAdmissionTest {
  private static final String SHARE =
      "fair_share: {tenant: org, weight_entry: plan, weights: {gold: 4, silver: 2, bronze: 1}}";
  private static final String POLICY =
      """
      - key: api
        rate_limit: {unit: minute, requests_per_unit: 70, name: shared, SHARE}
      - key: shadow
        shadow_mode: true
        rate_limit: {unit: minute, requests_per_unit: 7, SHARE}
      - key: quota
        quota_mode: true
        rate_limit: {unit: minute, requests_per_unit: 7, SHARE}
      - key: other
        quota_mode: true
        rate_limit: {unit: minute, requests_per_unit: 1}
      - {key: closed, rate_limit: {unit: minute, requests_per_unit: 0}}
      - key: two
        SHARE
        limits: [{unit: minute, requests_per_unit: 14}, {unit: hour, requests_per_unit: 21}]
      - key: over
        rate_limit: {unit: minute, requests_per_unit: 70, overdraft: true, SHARE}
      """
          .replace("SHARE", SHARE);
  private static final long MINUTE = 60_000;

  private final Counted counted;
  private final AdmissionFixture service;

  FairShareAdmissionTest(Counted counted) {
    this.counted = counted;
    this.service = new AdmissionFixture(counted, POLICY, Setup.NATIVE);
  }

  @Test
  void aFloodOfOneTenantLeavesTheOthersTheirGuarantees() {
    allThreeAsk();
    assertThat(admitted(1_000, bronze("api"))).isEqualTo(9);
    assertThat(admitted(1_000, gold("api"))).isEqualTo(39);
    assertThat(admitted(1_000, silver("api"))).isEqualTo(19);
  }

  @Test
  void thePartOfAnAbsentTenantIsLentFromTheSecondWindowOnAndWholeAfterItHasComeBack() {
    allThreeAsk();
    service.time.advance(MINUTE);
    assertThat(admitted(1_000, bronze("api")) + admitted(1_000, silver("api"))).isEqualTo(30);
    service.time.advance(MINUTE);
    assertThat(admitted(1_000, silver("api"))).as("2 / 3, and what rounding leaves").isEqualTo(47);
    assertThat(admitted(1_000, bronze("api"))).isEqualTo(23);
    assertThat(admitted(1_000, gold("api"))).as("nothing is unspent").isZero();
    service.time.advance(MINUTE);
    assertThat(admitted(1_000, bronze("api"))).isEqualTo(10);
    assertThat(admitted(1_000, gold("api"))).isEqualTo(40);
  }

  @Test
  void inventedTenantsHaveAtMostTheUnlistedShareWhileListedOnesAreActive() {
    assertThat(admitted(1, gold("api"))).isEqualTo(1);
    int invented = 0;
    for (int i = 0; i < 1_000; i++) {
      invented += admitted(1, tenant("api", "t" + i, "none"));
    }
    assertThat(invented).as("the half that is not reserved for gold").isEqualTo(35);
    assertThat(admitted(1_000, gold("api"))).isEqualTo(34);
  }

  @Test
  void aVerdictShowsTheGuaranteeAndWhatIsLeftOfIt() {
    allThreeAsk();
    Verdict verdict = service.ask(gold("api")).verdicts().getFirst();
    assertThat(verdict.requestsPerUnit()).isEqualTo(40);
    assertThat(verdict.remaining()).isEqualTo(38);
    assertThat(verdict.secondsUntilReset()).isEqualTo(60);
    admitted(100, bronze("api"));
    Answer refused = service.ask(bronze("api"));
    assertThat(refused.verdicts().getFirst().requestsPerUnit()).isEqualTo(10);
    assertThat(refused.verdicts().getFirst().remaining()).isZero();
    assertThat(refused.retryAfterMillis()).isEqualTo(MINUTE);
    assertThat(service.ask(71, gold("api")).retryAfterMillis()).isEqualTo(Decision.NEVER);
  }

  @Test
  void aVerdictShowsWhatATenantMayBorrow() {
    assertThat(admitted(1, bronze("api"))).isEqualTo(1);
    assertThat(service.ask(gold("api")).verdicts().getFirst().requestsPerUnit()).isEqualTo(56);
    service.time.advance(2 * MINUTE);
    Verdict alone = service.ask(bronze("api")).verdicts().getFirst();
    assertThat(alone.requestsPerUnit()).isEqualTo(70);
    assertThat(alone.remaining()).isEqualTo(69);
  }

  @Test
  void costsAreChargedToTheTenantAndRefundedToIt() {
    allThreeAsk();
    assertThat(service.ask(9, bronze("api")).admitted()).isTrue();
    assertThat(service.ask(1, bronze("api")).admitted()).isFalse();
    assertThat(service.ask(1, with(5, true, gold("api"))).admitted()).isTrue();
    assertThat(service.ask(1, bronze("api")).admitted()).as("gold's refund").isFalse();
    service.ask(1, with(4, true, bronze("api")));
    assertThat(left(with(0, false, bronze("api")))).isEqualTo(4);
    assertThat(admitted(10, bronze("api"))).isEqualTo(4);
  }

  @Test
  void aLookChargesNothingAndMakesNoTenantActive() {
    assertThat(admitted(1, bronze("api"))).isEqualTo(1);
    assertThat(left(with(0, false, gold("api")))).isEqualTo(56);
    assertThat(left(with(0, false, bronze("api")))).isEqualTo(69);
  }

  @Test
  void aRefusedRequestChargesNoTenant() {
    allThreeAsk();
    assertThat(service.ask(1, bronze("api"), charge("closed")).admitted()).isFalse();
    assertThat(admitted(1_000, bronze("api"))).isEqualTo(9);
    assertThat(service.ask(1, bronze("api"), gold("api")).admitted()).isFalse();
    assertThat(admitted(1_000, gold("api"))).isEqualTo(39);
  }

  @Test
  void underShadowModeARuleCountsAndNeverRefuses() {
    for (Descriptor each : new Descriptor[] {gold("shadow"), silver("shadow"), bronze("shadow")}) {
      assertThat(service.ask(each).admitted()).isTrue();
    }
    Answer beyond = service.ask(bronze("shadow"));
    assertThat(beyond.admitted()).isTrue();
    assertThat(beyond.verdicts().getFirst().role()).isEqualTo(Role.SHADOW);
    assertThat(beyond.verdicts().getFirst().remaining()).isZero();
    assertThat(left(with(0, false, gold("shadow")))).isEqualTo(3);
    assertThat(StatsLines.of(service.metrics))
        .contains("ratelimit.service.rate_limit.d.shadow.shadow_mode: 1");
  }

  @Test
  void underTheGlobalShadowModeTheStatusReportsTheRefusal() {
    AdmissionFixture shadow =
        new AdmissionFixture(counted, POLICY, new CompatibilityConfig(false, true, false));
    for (Descriptor each : new Descriptor[] {gold("api"), silver("api"), bronze("api")}) {
      shadow.ask(each);
    }
    Answer answer = shadow.ask(30, bronze("api"));
    assertThat(answer.admitted()).isTrue();
    assertThat(answer.verdicts().getFirst().refused()).isTrue();
  }

  @Test
  void aQuotaRefusesTogetherWithTheOthersOnly() {
    for (Descriptor each : new Descriptor[] {gold("quota"), silver("quota"), bronze("quota")}) {
      assertThat(service.ask(each).admitted()).isTrue();
    }
    assertThat(service.ask(bronze("quota")).admitted()).isFalse();
    assertThat(service.ask(bronze("quota"), charge("other")).admitted()).isTrue();
    assertThat(service.ask(bronze("quota"), charge("other")).admitted()).isFalse();
  }

  @Test
  void severalLimitsAreDividedAndMustAllAdmit() {
    for (Descriptor each : new Descriptor[] {gold("two"), silver("two"), bronze("two")}) {
      assertThat(service.ask(each).admitted()).isTrue();
    }
    assertThat(admitted(100, bronze("two"))).as("2 of 14 a minute").isEqualTo(1);
    service.time.advance(MINUTE);
    assertThat(admitted(100, bronze("two"))).as("3 of 21 an hour").isEqualTo(1);
    assertThat(service.ask(bronze("two")).verdicts().getFirst().requestsPerUnit()).isEqualTo(3);
  }

  @Test
  void anOverdraftOfATenantIsChargedWhole() {
    for (Descriptor each : new Descriptor[] {gold("over"), silver("over"), bronze("over")}) {
      assertThat(service.ask(each).admitted()).isTrue();
    }
    assertThat(service.ask(20, bronze("over")).admitted()).isFalse();
    assertThat(admitted(100, gold("over"))).isEqualTo(39);
    assertThat(service.ask(20, silver("over")).admitted()).as("3 + 20 + 39 are used").isFalse();
  }

  @Test
  void aReloadChangesLimitAndWeightsAndKeepsCounts() {
    allThreeAsk();
    assertThat(admitted(1_000, bronze("api"))).isEqualTo(9);
    service.load(POLICY.replace("requests_per_unit: 70, name", "requests_per_unit: 140, name"));
    assertThat(admitted(1_000, bronze("api"))).isEqualTo(10);
    service.load(POLICY.replace("bronze: 1", "bronze: 4"));
    assertThat(left(with(0, false, bronze("api")))).as("4 / 10 of 70, less 20").isEqualTo(8);
    service.time.advance(MINUTE);
    assertThat(admitted(1_000, bronze("api"))).isEqualTo(28);
  }

  @Test
  void aLimitThatGetsFairSharesStartsWithNothingCounted() {
    service.load("- {key: api, rate_limit: {unit: minute, requests_per_unit: 70}}\n");
    assertThat(service.ask(70, charge("api")).admitted()).isTrue();
    service.load(POLICY);
    assertThat(admitted(70, bronze("api"))).isEqualTo(70);
  }

  @Test
  void theLimitOfARequestIsNotDivided() {
    LimitOverride override = new LimitOverride(3, LimitUnit.MINUTE);
    String[] entries = bronze("api").entries();
    Descriptor own = new Descriptor(entries, override, Descriptor.HITS_UNSET, false);
    assertThat(admitted(10, own)).isEqualTo(3);
    assertThat(admitted(1, bronze("api"))).isEqualTo(1);
  }

  @Test
  void withoutATenantNoRuleApplies() {
    assertThat(service.ask(charge("api")).verdicts()).containsExactly(Verdict.UNTOUCHED);
  }

  private void allThreeAsk() {
    assertThat(service.ask(gold("api")).admitted()).isTrue();
    assertThat(service.ask(silver("api")).admitted()).isTrue();
    assertThat(service.ask(bronze("api")).admitted()).isTrue();
  }

  private int admitted(int requests, Descriptor descriptor) {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += service.ask(descriptor).admitted() ? 1 : 0;
    }
    return admitted;
  }

  private long left(Descriptor descriptor) {
    return AdmissionFixture.left(service.ask(descriptor), 0);
  }

  private static Descriptor gold(String key) {
    return tenant(key, "acme", "gold");
  }

  private static Descriptor silver(String key) {
    return tenant(key, "initech", "silver");
  }

  private static Descriptor bronze(String key) {
    return tenant(key, "umbrella", "bronze");
  }

  private static Descriptor tenant(String key, String org, String plan) {
    String[] entries = {key, "v", "org", org, "plan", plan};
    return new Descriptor(entries, null, Descriptor.HITS_UNSET, false);
  }

  private static Descriptor with(long hits, boolean refund, Descriptor descriptor) {
    return new Descriptor(descriptor.entries(), null, hits, refund);
  }
}
