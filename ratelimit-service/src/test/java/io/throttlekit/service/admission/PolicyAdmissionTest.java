package io.throttlekit.service.admission;

import static io.throttlekit.service.admission.AdmissionFixture.charge;
import static io.throttlekit.service.admission.AdmissionFixture.hits;
import static io.throttlekit.service.admission.AdmissionFixture.left;
import static io.throttlekit.service.admission.AdmissionFixture.refund;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

/** Requests with one descriptor. */
@ParameterizedClass
@EnumSource
class PolicyAdmissionTest {
  private static final String TWO =
      """
      - {key: two, rate_limit: {unit: minute, requests_per_unit: 2}}
      - {key: shadow, shadow_mode: true, rate_limit: {unit: minute, requests_per_unit: 2}}
      - {key: quota, quota_mode: true, rate_limit: {unit: minute, requests_per_unit: 2}}
      - {key: free, rate_limit: {unlimited: true}}
      - {key: over, rate_limit: {unit: minute, requests_per_unit: 2, overdraft: true}}
      - {key: parent, descriptors: [{key: child, rate_limit: {unit: minute, requests_per_unit: 2}}]}
      """;

  private final Counted counted;
  private final AdmissionFixture service;

  PolicyAdmissionTest(Counted counted) {
    this.counted = counted;
    this.service = new AdmissionFixture(counted, TWO, Setup.NATIVE);
  }

  @Test
  void nothingIsDecidedBeforePoliciesAreLoaded() {
    AdmissionFixture empty = new AdmissionFixture(counted, null, Setup.NATIVE);
    assertThatExceptionOfType(NoPoliciesException.class)
        .isThrownBy(() -> empty.ask(charge("two")))
        .withMessage("no rate limit configuration loaded");
    empty.load(TWO);
    assertThat(empty.ask(charge("two")).admitted()).isTrue();
  }

  @Test
  void admitsTheLimitAndThenRefusesUntilTheWindowEnds() {
    assertThat(left(service.ask(charge("two")), 0)).isEqualTo(1);
    assertThat(left(service.ask(charge("two")), 0)).isZero();
    service.time.advance(59_000);
    Answer refused = service.ask(charge("two"));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.verdicts().getFirst().refused()).isTrue();
    assertThat(refused.retryAfterMillis()).isEqualTo(1_000);
    service.time.advance(1_000);
    Answer admitted = service.ask(charge("two"));
    assertThat(admitted.admitted()).isTrue();
    assertThat(admitted.retryAfterMillis()).isZero();
  }

  @Test
  void unmatchedDescriptorsAreAdmittedUntouched() {
    Answer unmatched = service.ask(charge("unknown"));
    assertThat(unmatched).isEqualTo(service.ask("elsewhere", 1, charge("two")));
    assertThat(unmatched.admitted()).isTrue();
    assertThat(unmatched.verdicts()).containsExactly(Verdict.UNTOUCHED);
    assertThat(service.ask("elsewhere", 1, charge("two"), charge("two")).verdicts())
        .containsExactly(Verdict.UNTOUCHED, Verdict.UNTOUCHED);
    assertThat(StatsLines.of(service.metrics))
        .contains("ratelimit.service.rate_limit.elsewhere.domain_not_found: 3");
  }

  @Test
  void anUnlimitedRuleIsReportedWithoutALimit() {
    Verdict verdict = service.ask(charge("free")).verdicts().getFirst();
    assertThat(verdict.refused()).isFalse();
    assertThat(verdict.rule()).isNotNull();
    assertThat(verdict.limit()).isNull();
    assertThat(verdict.decision()).isNull();
  }

  @Test
  void aRuleInShadowModeCountsAndNeverRefuses() {
    service.ask(2, charge("shadow"));
    Answer beyond = service.ask(charge("shadow"));
    assertThat(beyond.admitted()).isTrue();
    Verdict verdict = beyond.verdicts().getFirst();
    assertThat(verdict.role()).isEqualTo(Role.SHADOW);
    assertThat(verdict.refused()).isFalse();
    assertThat(verdict.remaining()).isZero();
    assertThat(StatsLines.of(service.metrics))
        .contains("ratelimit.service.rate_limit.d.shadow.shadow_mode: 1");
  }

  @Test
  void aQuotaAloneRefuses() {
    assertThat(service.ask(2, charge("quota")).admitted()).isTrue();
    Answer refused = service.ask(charge("quota"));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.verdicts().getFirst().role()).isEqualTo(Role.QUOTA);
  }

  @Test
  void underShadowModeTheRequestPassesAndTheStatusReportsTheRefusal() {
    AdmissionFixture shadow =
        new AdmissionFixture(counted, TWO, new CompatibilityConfig(false, true, false));
    shadow.ask(2, charge("two"));
    Answer beyond = shadow.ask(charge("two"));
    assertThat(beyond.admitted()).isTrue();
    assertThat(beyond.verdicts().getFirst().refused()).isTrue();
    assertThat(StatsLines.of(shadow.metrics)).contains("ratelimit.service.global_shadow_mode: 1");
  }

  @Test
  void hitsOfADescriptorOverrideAndARefundReturnsThem() {
    assertThat(left(service.ask(2, hits(1, "two")), 0)).isEqualTo(1);
    assertThat(left(service.ask(refund(1, "two")), 0)).isEqualTo(2);
    assertThat(left(service.ask(refund(9, "two")), 0)).isEqualTo(2);
    assertThat(service.ask(hits(3, "two")).retryAfterMillis()).isEqualTo(Decision.NEVER);
    assertThat(left(service.ask(hits(0, "two")), 0)).isEqualTo(2);
  }

  @Test
  void aRefundOfZeroIsNeverRefused() {
    service.ask(2, charge("two"));
    assertThat(service.ask(hits(0, "two")).admitted()).isFalse();
    assertThat(service.ask(refund(0, "two")).admitted()).isTrue();
  }

  @Test
  void refusedCostsAreChargedOnlyIfConfigured() {
    AdmissionFixture counting =
        new AdmissionFixture(counted, TWO, new CompatibilityConfig(true, false, false));
    for (Answer refused :
        new Answer[] {
          service.ask(3, charge("two")),
          service.ask(3, charge("over")),
          counting.ask(3, charge("two"))
        }) {
      assertThat(refused.admitted()).isFalse();
    }
    assertThat(left(service.ask(hits(0, "two")), 0)).isEqualTo(2);
    assertThat(left(service.ask(refund(2, "over")), 0)).isEqualTo(1);
    assertThat(left(counting.ask(refund(2, "two")), 0)).isEqualTo(1);
  }

  @Test
  void aLimitInTheRequestReplacesTheRuleAndSharesItsCounter() {
    service.ask(2, charge("two"));
    LimitOverride five = new LimitOverride(5, LimitUnit.MINUTE);
    Descriptor own = new Descriptor(new String[] {"two", "v"}, five, Descriptor.HITS_UNSET, false);
    Answer answer = service.ask(own);
    assertThat(answer.admitted()).isTrue();
    assertThat(left(answer, 0)).isEqualTo(2);
  }

  @Test
  void aReloadKeepsTheCountUnderANewLimit() {
    service.ask(2, charge("two"));
    service.load("- {key: two, rate_limit: {unit: minute, requests_per_unit: 9}}");
    assertThat(left(service.ask(charge("two")), 0)).isEqualTo(6);
  }
}
