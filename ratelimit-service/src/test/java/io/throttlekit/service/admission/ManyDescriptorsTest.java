package io.throttlekit.service.admission;

import static io.throttlekit.service.admission.AdmissionFixture.charge;
import static io.throttlekit.service.admission.AdmissionFixture.hits;
import static io.throttlekit.service.admission.AdmissionFixture.left;
import static io.throttlekit.service.admission.AdmissionFixture.refund;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Several descriptors of one request, and several limits of one descriptor. */
@ParameterizedClass
@EnumSource
class ManyDescriptorsTest {
  private static final String POLICIES =
      """
      - {key: one, rate_limit: {unit: minute, requests_per_unit: 1, name: one}}
      - {key: nine, rate_limit: {unit: minute, requests_per_unit: 9, name: nine}}
      - {key: instead, rate_limit: {unit: minute, requests_per_unit: 9, replaces: [{name: one}]}}
      - {key: open, rate_limit: {unlimited: true, name: open, replaces: [{name: one}]}}
      - {key: closing, rate_limit: {unit: minute, requests_per_unit: 9, replaces: [{name: open}]}}
      - {key: a, rate_limit: {unit: minute, requests_per_unit: 9, name: a, replaces: [{name: b}]}}
      - {key: b, rate_limit: {unit: minute, requests_per_unit: 9, name: b, replaces: [{name: a}]}}
      - {key: q1, quota_mode: true, rate_limit: {unit: minute, requests_per_unit: 1}}
      - {key: q2, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
      - {key: qs, quota_mode: true, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 0}}
      - key: several
        limits:
          - {unit: second, requests_per_unit: 2}
          - {unit: hour, requests_per_unit: 3}
          - {every: 30s, requests_per_unit: 4}
      """;

  private final Counted counted;
  private final AdmissionFixture service;

  ManyDescriptorsTest(Counted counted) {
    this.counted = counted;
    this.service = new AdmissionFixture(counted, POLICIES, Setup.NATIVE);
  }

  @Test
  void allAreChargedWhenAllAdmitAndNoneWhenOneRefuses() {
    Answer both = service.ask(charge("one"), charge("nine"));
    assertThat(both.admitted()).isTrue();
    assertThat(left(both, 1)).isEqualTo(8);
    Answer refused = service.ask(charge("nine"), charge("one"));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.verdicts()).extracting(Verdict::refused).containsExactly(false, true);
    assertThat(left(refused, 0)).isEqualTo(8);
    assertThat(left(service.ask(hits(0, "nine")), 0)).isEqualTo(8);
  }

  @Test
  void aRefundCountsInARefusedRequest() {
    service.ask(5, charge("nine"));
    assertThat(service.ask(refund(3, "nine"), hits(2, "one")).admitted()).isFalse();
    assertThat(left(service.ask(hits(0, "nine")), 0)).isEqualTo(7);
  }

  @Test
  void aReplacedRuleIsNeitherChargedNorReported() {
    service.ask(charge("one"));
    Answer answer = service.ask(charge("one"), charge("instead"));
    assertThat(answer.admitted()).isTrue();
    assertThat(answer.verdicts().getFirst()).isEqualTo(Verdict.UNTOUCHED);
    assertThat(service.ask(charge("one"), charge("open")).admitted()).isTrue();
    assertThat(service.ask(charge("one"), charge("nine")).admitted()).isFalse();
  }

  @Test
  void rulesThatReplaceEachOtherAreBothDroppedAndAnUnlimitedOneStays() {
    assertThat(service.ask(charge("a"), charge("b")).verdicts())
        .containsExactly(Verdict.UNTOUCHED, Verdict.UNTOUCHED);
    assertThat(service.ask(charge("open"), charge("closing")).verdicts().getFirst().rule())
        .isNotNull();
  }

  @Test
  void quotasRefuseOnlyTogetherAndRetryAfterIsTheShortest() {
    assertThat(service.ask(charge("q1"), charge("q2")).admitted()).isTrue();
    Answer refused = service.ask(charge("q1"), charge("q2"));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.quotaPasses()).isFalse();
    assertThat(refused.retryAfterMillis()).isEqualTo(60_000);
    service.time.advance(60_000);
    assertThat(service.ask(charge("q1"), charge("q2")).admitted()).isTrue();
  }

  @Test
  void aQuotaInShadowModeAdmitsAll() {
    Answer answer = service.ask(hits(5, "q1"), charge("qs"));
    assertThat(answer.admitted()).isTrue();
    assertThat(answer.quotaPasses()).isTrue();
    assertThat(answer.verdicts()).extracting(Verdict::refused).containsExactly(true, false);
  }

  @Test
  void underQuotaModeAnUnlimitedDescriptorAdmitsAll() {
    AdmissionFixture quota =
        new AdmissionFixture(counted, POLICIES, new CompatibilityConfig(false, false, true));
    assertThat(quota.ask(hits(5, "one"), hits(50, "nine")).admitted()).isFalse();
    assertThat(quota.ask(hits(5, "one"), charge("nine")).admitted()).isTrue();
    assertThat(quota.ask(hits(5, "one"), charge("unknown")).admitted()).isTrue();
    assertThat(quota.ask(hits(5, "one"), charge("instead")).admitted()).isTrue();
    assertThat(quota.ask(hits(50, "nine"), charge("open")).admitted()).isFalse();
  }

  @Test
  void aRefundOfZeroIsAdmittedAndAnUnlimitedRuleIsNoQuota() {
    AdmissionFixture quota =
        new AdmissionFixture(
            counted,
            POLICIES + "- {key: so, shadow_mode: true, rate_limit: {unlimited: true}}",
            new CompatibilityConfig(false, false, true));
    assertThat(quota.ask(hits(5, "q1"), refund(1, "q2")).admitted()).isTrue();
    assertThat(quota.ask(hits(5, "q1"), refund(0, "q2")).admitted()).isTrue();
    assertThat(quota.ask(hits(5, "one"), charge("so")).admitted()).isFalse();
  }

  @Test
  void underShadowModeEachDescriptorIsChargedSeparately() {
    AdmissionFixture shadow =
        new AdmissionFixture(counted, POLICIES, new CompatibilityConfig(false, true, false));
    Answer answer = shadow.ask(hits(5, "one"), charge("nine"));
    assertThat(answer.admitted()).isTrue();
    assertThat(answer.verdicts()).extracting(Verdict::refused).containsExactly(true, false);
    assertThat(left(shadow.ask(hits(0, "nine")), 0)).isEqualTo(8);
    assertThat(StatsLines.of(shadow.metrics)).contains("ratelimit.service.global_shadow_mode: 1");
  }

  @Test
  void ofSeveralLimitsTheFullestIsReportedUntilOneRefuses() {
    assertThat(reportedWindow(service.ask(charge("several")))).isEqualTo(1_000);
    service.time.advance(1_000);
    assertThat(reportedWindow(service.ask(charge("several")))).isEqualTo(3_600_000);
    Answer refused = service.ask(2, charge("several"));
    assertThat(reportedWindow(refused)).isEqualTo(3_600_000);
    assertThat(refused.retryAfterMillis()).isEqualTo(3_600_000 - 1_000);
    assertThat(left(service.ask(hits(0, "several")), 0)).isEqualTo(1);
  }

  @Test
  void ofSeveralRefusalsTheLongestIsReported() {
    service.ask(2, charge("several"));
    assertThat(reportedWindow(service.ask(charge("several")))).isEqualTo(1_000);
    assertThat(reportedWindow(service.ask(2, charge("several")))).isEqualTo(3_600_000);
    assertThat(service.ask(4, charge("several")).verdicts().getFirst().refused()).isTrue();
  }

  private static long reportedWindow(Answer answer) {
    return Objects.requireNonNull(answer.verdicts().getFirst().limit()).windowMillis();
  }
}
