package io.throttlekit.service.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Decision;
import io.throttlekit.store.Claim.Role;
import io.throttlekit.tier.DecidedBy;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Retry-After of refused requests. */
class AnswerTest {

  @Test
  void anAdmittedRequestHasNoRetryAfter() {
    assertThat(new Answer(true, List.of(refused(Role.ENFORCED, 5))).retryAfterMillis()).isZero();
  }

  @Test
  void retryAfterCoversEveryRefusingRule() {
    assertThat(retryAfter(refused(Role.ENFORCED, 5), refused(Role.ENFORCED, 9), admitted()))
        .isEqualTo(9);
    assertThat(retryAfter(refused(Role.ENFORCED, 5), refused(Role.ENFORCED, Decision.NEVER)))
        .isEqualTo(Decision.NEVER);
  }

  @Test
  void retryAfterOfQuotasIsTheShortest() {
    assertThat(retryAfter(refused(Role.QUOTA, 7), refused(Role.QUOTA, 3))).isEqualTo(3);
    assertThat(retryAfter(refused(Role.QUOTA, Decision.NEVER), refused(Role.QUOTA, 3)))
        .isEqualTo(3);
    assertThat(retryAfter(refused(Role.ENFORCED, 5), refused(Role.QUOTA, 3))).isEqualTo(5);
    assertThat(retryAfter(refused(Role.ENFORCED, 2), refused(Role.QUOTA, 3))).isEqualTo(3);
  }

  @Test
  void anAdmittingQuotaLeavesOnlyTheRefusingRulesToWaitFor() {
    Verdict passing =
        new Verdict(false, Role.QUOTA, null, null, Decision.admit(9, 1, 60_000), DecidedBy.MEMORY);
    assertThat(retryAfter(refused(Role.ENFORCED, 2), refused(Role.QUOTA, 30), passing))
        .isEqualTo(2);
    Answer passed =
        new Answer(false, List.of(refused(Role.ENFORCED, 2), refused(Role.QUOTA, 30)), true, null);
    assertThat(passed.retryAfterMillis()).isEqualTo(2);
  }

  @Test
  void whatIsOnlyReportedOverItsLimitNeedsNoRoom() {
    Verdict shadow =
        new Verdict(
            false,
            Role.SHADOW,
            null,
            null,
            Decision.refuse(1, 0, 60_000, 60_000),
            DecidedBy.MEMORY);
    assertThat(retryAfter(refused(Role.ENFORCED, 2), shadow, Verdict.UNTOUCHED)).isEqualTo(2);
  }

  @Test
  void whatRemainsIsReportedAsAtLeastZero() {
    assertThat(refused(Role.ENFORCED, 1).remaining()).isZero();
    assertThat(Verdict.UNTOUCHED.remaining()).isZero();
    assertThat(admitted().remaining()).isEqualTo(4);
    Verdict shadow =
        new Verdict(
            false, Role.SHADOW, null, null, Decision.refuse(9, 5, 60, 60), DecidedBy.MEMORY);
    assertThat(shadow.remaining()).isZero();
  }

  @Test
  void theDecidingRuleIsTheFirstRefusingOneElseTheFirstQuota() {
    Verdict enforced = refused(Role.ENFORCED, 5);
    Verdict other = refused(Role.ENFORCED, 9);
    Verdict quota = refused(Role.QUOTA, 3);
    assertThat(refusing(admitted(), quota, enforced, other)).isSameAs(enforced);
    assertThat(refusing(admitted(), quota, refused(Role.QUOTA, 4))).isSameAs(quota);
    assertThat(refusing()).isNull();
    assertThat(new Answer(true, List.of(enforced)).refusing()).as("admitted").isNull();
  }

  private static @Nullable Verdict refusing(Verdict... verdicts) {
    return new Answer(false, List.of(verdicts)).refusing();
  }

  private static long retryAfter(Verdict... verdicts) {
    return new Answer(false, List.of(verdicts)).retryAfterMillis();
  }

  private static Verdict refused(Role role, long retryAfterMillis) {
    return new Verdict(
        true, role, null, null, Decision.refuse(1, -3, 60_000, retryAfterMillis), DecidedBy.MEMORY);
  }

  private static Verdict admitted() {
    return new Verdict(
        false, Role.ENFORCED, null, null, Decision.admit(5, 4, 60_000), DecidedBy.MEMORY);
  }
}
