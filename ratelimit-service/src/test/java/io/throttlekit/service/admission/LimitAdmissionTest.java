package io.throttlekit.service.admission;

import static io.throttlekit.service.admission.AdmissionFixture.charge;
import static io.throttlekit.service.admission.AdmissionFixture.hits;
import static io.throttlekit.service.admission.AdmissionFixture.refund;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests that reach concurrency limits, alone and together with rate limits. */
class LimitAdmissionTest {
  private static final String BOTH =
      """
      - key: up
        concurrency: {min: 2, max: 2}
      - key: user
        rate_limit: {requests_per_unit: 3, unit: day}
      """;
  private static final String QUEUED =
      """
      - key: up
        concurrency: {min: 1, max: 1, queue: {}}
      - key: user
        rate_limit: {requests_per_unit: 1, unit: day}
      """;

  @Test
  void admitsUpToTheLimitAndReportsIt() {
    AdmissionFixture deciding = AdmissionFixture.by(BOTH);
    Answer first = deciding.ask(charge("up"));
    assertThat(first.admitted()).isTrue();
    assertThat(first.permit()).isNotNull();
    assertThat(first.verdicts().getFirst().remaining()).isEqualTo(1);
    assertThat(deciding.ask(charge("up")).admitted()).isTrue();

    Answer refused = deciding.ask(charge("up"));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.permit()).as("a denial never has a lease").isNull();
    assertThat(refused.retryAfterMillis()).isEqualTo(1_500);
    Verdict verdict = refused.verdicts().getFirst();
    assertThat(Objects.requireNonNull(verdict.decision()).limit()).isEqualTo(2);
    assertThat(verdict.limit()).isNull();
    assertThat(verdict.remaining()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aRefusedChargeLeavesNothingInFlight(Counted counted) {
    AdmissionFixture deciding = new AdmissionFixture(counted, BOTH, Setup.NATIVE);
    for (int i = 0; i < 3; i++) {
      end(deciding, deciding.ask(charge("up"), charge("user")));
    }
    for (int i = 0; i < 5; i++) {
      Answer refused = deciding.ask(charge("up"), charge("user"));
      assertThat(refused.admitted()).isFalse();
      assertThat(refused.permit()).isNull();
      assertThat(refused.verdicts()).extracting(Verdict::refused).containsExactly(false, true);
    }
    assertThat(deciding.gated.ends)
        .hasSize(8)
        .endsWith(PermitEnd.REFUSED)
        .filteredOn(PermitEnd.REFUSED::equals)
        .hasSize(5);
    assertThat(inFlight(deciding)).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void whatALimitRefusesChargesNothing(Counted counted) {
    AdmissionFixture deciding = new AdmissionFixture(counted, BOTH, Setup.NATIVE);
    Answer one = deciding.ask(charge("up"));
    Answer two = deciding.ask(charge("up"));
    for (int i = 0; i < 5; i++) {
      Answer refused = deciding.ask(charge("user"), charge("up"));
      assertThat(refused.admitted()).isFalse();
      assertThat(refused.verdicts()).extracting(Verdict::refused).containsExactly(false, true);
    }
    end(deciding, one);
    end(deciding, two);
    assertThat(AdmissionFixture.left(deciding.ask(charge("user"), charge("up")), 0)).isEqualTo(2);
  }

  @Test
  void aReleaseIsNeverChargedAndAlwaysAnsweredOk() {
    AdmissionFixture deciding = AdmissionFixture.by(BOTH);
    Answer taken = deciding.ask(charge("up"));
    String id = Objects.requireNonNull(taken.permit()).id();
    assertThat(inFlight(deciding)).isEqualTo(1);
    assertThat(deciding.ask(release("user", id)).verdicts()).containsExactly(Verdict.UNTOUCHED);
    assertThat(inFlight(deciding)).isZero();
    for (String stale : List.of(id, "forged", "")) {
      assertThat(deciding.ask(release("user", stale)).admitted()).isTrue();
    }
    assertThat(deciding.gated.stale).hasValue(3);
    assertThat(deciding.ask("unknown domain", 1, release("up", "x")).admitted()).isTrue();
    assertThat(AdmissionFixture.left(deciding.ask(charge("user"), release("up", id)), 0))
        .isEqualTo(2);
    assertThat(deciding.gated.stale).hasValue(5);
  }

  @Test
  void aLeaseThatIsNotReleasedEndsByItself() {
    AdmissionFixture deciding = AdmissionFixture.by(BOTH);
    Answer taken = deciding.ask(charge("up"));
    deciding.time.advance(59_999);
    deciding.timer.run();
    assertThat(inFlight(deciding)).isEqualTo(1);
    deciding.time.advance(20);
    deciding.timer.run();
    assertThat(inFlight(deciding)).isZero();
    end(deciding, taken);
    assertThat(deciding.gated.ends).containsExactly(PermitEnd.EXPIRED);
    assertThat(deciding.gated.stale).hasValue(1);
  }

  @Test
  void aPeekAcquiresNoLeaseAndARefundReleasesNone() {
    AdmissionFixture deciding = AdmissionFixture.by(BOTH);
    assertThat(deciding.ask(hits(0, "up")).admitted()).isTrue();
    assertThat(deciding.ask(refund(1, "up")).admitted()).isTrue();
    assertThat(inFlight(deciding)).isZero();
    assertThat(deciding.ask(hits(7, "up")).permit()).isNotNull();
    assertThat(deciding.ask(hits(7, "up")).permit()).isNotNull();
    assertThat(deciding.ask(hits(0, "up")).admitted()).isFalse();
    assertThat(deciding.ask(refund(1, "up")).admitted()).isTrue();
    assertThat(inFlight(deciding)).isEqualTo(2);
  }

  @Test
  void inShadowModeARequestBeyondTheLimitPassesWithoutALease() {
    AdmissionFixture deciding =
        AdmissionFixture.by("- {key: up, shadow_mode: true, concurrency: {min: 1, max: 1}}\n");
    assertThat(deciding.ask(charge("up")).permit()).isNotNull();
    Answer over = deciding.ask(charge("up"));
    assertThat(over.admitted()).isTrue();
    assertThat(over.permit()).isNull();
    assertThat(over.verdicts().getFirst().remaining()).isZero();
    assertThat(inFlight(deciding)).isEqualTo(1);
  }

  @Test
  void inTheShadowModeOfTheServiceNoLimitRefuses() {
    AdmissionFixture deciding =
        new AdmissionFixture(Counted.IN_MEMORY, BOTH, new CompatibilityConfig(false, true, false));
    for (int i = 0; i < 4; i++) {
      Answer answer = deciding.ask(charge("up"));
      assertThat(answer.admitted()).isTrue();
      assertThat(answer.permit() != null).isEqualTo(i < 2);
    }
    assertThat(StatsLines.of(deciding.metrics).toString()).contains("global_shadow_mode: 2");
  }

  @Test
  void aLimitEnforcedByEnvoysAdmitsAllInTheService() {
    AdmissionFixture deciding =
        AdmissionFixture.by(
            "- {key: up, concurrency: {gate: envoy, cluster: c, min: 1, max: 1}}\n");
    for (int i = 0; i < 5; i++) {
      Answer answer = deciding.ask(charge("up"));
      assertThat(answer.admitted()).isTrue();
      assertThat(answer.permit()).isNull();
    }
  }

  @Test
  void aReloadKeepsLeasesInFlight() {
    AdmissionFixture deciding = AdmissionFixture.by(BOTH);
    Answer taken = deciding.ask(charge("up"));
    deciding.load(BOTH.replace("min: 2, max: 2", "algorithm: aimd, min: 1, max: 1"));
    assertThat(deciding.ask(charge("up")).admitted()).isFalse();
    deciding.load("- {key: other, rate_limit: {unlimited: true}}\n");
    end(deciding, taken);
    assertThat(inFlight(deciding)).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void aRequestIsQueuedForAtMostHalfItsCallersTimeout(Counted counted) {
    AdmissionFixture deciding = new AdmissionFixture(counted, QUEUED, Setup.NATIVE);
    assertThat(deciding.ask(charge("up")).admitted()).isTrue();
    RecordingCallback waits = wait(deciding, 18_000_000, charge("up")); // of a timeout of 20 ms
    deciding.time.advance(9);
    deciding.timer.run();
    assertThat(waits.isAnswered()).isFalse();
    deciding.time.advance(2);
    deciding.timer.run();
    assertThat(waits.answer().admitted()).isFalse();
    assertThat(waits.answer().permit()).isNull();
    assertThat(inFlight(deciding)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void aQueuedRequestIsChargedWhenItIsAdmitted(Counted counted) {
    AdmissionFixture deciding = new AdmissionFixture(counted, QUEUED, Setup.NATIVE);
    Answer first = deciding.ask(charge("up"));
    RecordingCallback second = wait(deciding, 18_000_000, charge("up"), charge("user"));
    RecordingCallback third = wait(deciding, 18_000_000, charge("up"), charge("user"));
    end(deciding, first);
    assertThat(second.answer().admitted()).isTrue();
    assertThat(third.isAnswered()).isFalse();
    end(deciding, second.answer());
    assertThat(third.answer().admitted()).as("one per day").isFalse();
    assertThat(third.answer().permit()).isNull();
    assertThat(inFlight(deciding)).isZero();
  }

  @Test
  void aRequestCancelledInTheQueueIsNeitherInFlightNorCharged() {
    AdmissionFixture deciding = AdmissionFixture.by(QUEUED);
    Answer first = deciding.ask(charge("up"));
    RecordingCallback leaves = wait(deciding, 18_000_000, charge("up"), charge("user"));
    leaves.leave();
    end(deciding, first);
    assertThat(leaves.isAnswered()).isFalse();
    assertThat(inFlight(deciding)).isZero();
    assertThat(deciding.ask(charge("user")).admitted()).isTrue();
  }

  private static RecordingCallback wait(
      AdmissionFixture deciding, long waitTimeoutNanos, Descriptor... descriptors) {
    RateLimitRequest request = new RateLimitRequest("d", List.of(descriptors), 1);
    return RecordingCallback.of(deciding.admission, request, waitTimeoutNanos);
  }

  private static void end(AdmissionFixture deciding, Answer answer) {
    assertThat(answer.admitted()).isTrue();
    String id = Objects.requireNonNull(answer.permit()).id();
    assertThat(deciding.ask(release("up", id)).admitted()).isTrue();
  }

  private static Descriptor release(String key, String id) {
    return new Descriptor(
        new String[] {key, "v", Rule.LEASE_ENTRY, id}, null, Descriptor.HITS_UNSET, false);
  }

  private static int inFlight(AdmissionFixture deciding) {
    AtomicInteger sum = new AtomicInteger();
    deciding.gate.limits().forEach((_, figures) -> sum.addAndGet(figures.inFlight()));
    return sum.get();
  }
}
