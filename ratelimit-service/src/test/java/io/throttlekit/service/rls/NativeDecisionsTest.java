package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.hits;
import static io.throttlekit.service.server.TestRequests.refund;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import org.junit.jupiter.api.Test;

/** Decisions where refused requests charge no counter. */
class NativeDecisionsTest {
  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);

  @Test
  void aRefusedRequestChargesNoCounter() {
    assertThat(decide(hits(5, x(entries("five", "a"))))).isEqualTo("OK [OK 5/DAY rem=0]");
    for (int i = 0; i < 3; i++) {
      assertThat(decide(x(entries("ten", "a"), entries("five", "a"))))
          .isEqualTo("OVER_LIMIT [OK 10/DAY name=ten-limit rem=10; OVER_LIMIT 5/DAY rem=0]");
    }
    assertThat(decide(x(entries("ten", "a")))).endsWith("rem=9]");
  }

  @Test
  void aRefusalReportsWhatIsReallyLeft() {
    assertThat(decide(hits(3, x(entries("five", "b"))))).endsWith("rem=2]");
    assertThat(decide(hits(3, x(entries("five", "b")))))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 5/DAY rem=2]");
    assertThat(decide(hits(2, x(entries("five", "b"))))).isEqualTo("OK [OK 5/DAY rem=0]");
  }

  @Test
  void aPeekIsRefusedWhenNothingIsLeft() {
    assertThat(decide(x(hits(0, entries("one", "c"))))).isEqualTo("OK [OK 1/DAY rem=1]");
    assertThat(decide(x(entries("one", "c")))).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(decide(x(hits(0, entries("one", "c")))))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0]");
  }

  @Test
  void anOverdraftIsChargedWholeAndReportedAsRefused() {
    assertThat(decide(hits(15, x(entries("over", "a")))))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 10/DAY rem=0]");
    assertThat(decide(x(entries("over", "a")))).isEqualTo("OVER_LIMIT [OVER_LIMIT 10/DAY rem=0]");
    assertThat(decide(x(refund(hits(7, entries("over", "a")))))).isEqualTo("OK [OK 10/DAY rem=1]");
  }

  @Test
  void ofSeveralLimitsTheOneThatRefusedIsReported() {
    assertThat(decide(hits(3, x(entries("two", "a"))))).isEqualTo("OK [OK 4/SECOND rem=1]");
    assertThat(decide(hits(2, x(entries("two", "a")))))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 4/SECOND rem=1]");
    setup.time().set(Setup.NOW + 1_000);
    assertThat(decide(hits(3, x(entries("two", "a"))))).isEqualTo("OK [OK 6/DAY rem=0]");
    assertThat(decide(x(entries("two", "a")))).isEqualTo("OVER_LIMIT [OVER_LIMIT 6/DAY rem=0]");
  }

  @Test
  void ofSeveralLimitsTheOneWithTheSmallestRemainingFractionIsReported() {
    assertThat(decide(x(entries("two", "b")))).isEqualTo("OK [OK 4/SECOND rem=3]");
    setup.time().set(Setup.NOW + 1_000);
    assertThat(decide(x(entries("two", "b")))).isEqualTo("OK [OK 6/DAY rem=4]");
  }

  @Test
  void aRuleInShadowModeThatWouldRefuseReportsNothingLeftAndChargesNothing() {
    assertThat(decide(x(entries("sh", "a")))).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(decide(hits(7, x(entries("sh", "a"))))).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(decide(x(refund(hits(1, entries("sh", "a")))))).isEqualTo("OK [OK 1/DAY rem=1]");
  }

  @Test
  void underShadowModeARefusingRuleDoesNotPreventOtherCharges() {
    Setup shadow = new Setup(Book.X, new CompatibilityConfig(false, true, false), Setup.BARE);
    RateLimitRequest request = x(entries("zero", "a"), entries("five", "a"));
    assertThat(AnswerText.of(AnswerText.answer(shadow.frontEnd(), request)))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0; OK 5/DAY rem=4]");
    assertThat(AnswerText.of(AnswerText.answer(shadow.frontEnd(), request)))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0; OK 5/DAY rem=3]");
  }

  @Test
  void aQuotaInShadowModeCountsAsAdmitting() {
    Setup mixed =
        new Setup(
            """
            domain: x
            descriptors:
              - {key: a, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 0}}
              - {key: b, quota_mode: true, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 0}}
            """,
            Setup.NATIVE,
            Setup.BARE);
    assertThat(
            AnswerText.of(
                AnswerText.answer(mixed.frontEnd(), x(entries("a", "1"), entries("b", "1")))))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0; OK 0/DAY rem=0]");
  }

  private String decide(RateLimitRequest request) {
    return AnswerText.of(AnswerText.answer(setup.frontEnd(), request));
  }
}
