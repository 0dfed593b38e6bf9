package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.hits;
import static io.throttlekit.service.server.TestRequests.limit;
import static io.throttlekit.service.server.TestRequests.refund;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decisions where refused requests are charged, as in envoyproxy/ratelimit. */
class CountingDecisionsTest {
  private final RateLimitFrontEnd service = serving(Setup.COUNTING);

  @Test
  void aDescriptorThatComesTwiceInARequestCountsTwice() {
    assertThat(decide(x(entries("five", "d"), entries("five", "d"))))
        .isEqualTo("OK [OK 5/DAY rem=4; OK 5/DAY rem=3]");
  }

  @Test
  void hitsOfTheRequestAreTheCostOfEachDescriptor() {
    RateLimitRequest ten = x(entries("ten", "h"));
    assertThat(decide(hits(4, ten))).isEqualTo("OK [OK 10/DAY name=ten-limit rem=6]");
    assertThat(decide(hits(6, ten))).isEqualTo("OK [OK 10/DAY name=ten-limit rem=0]");
    assertThat(decide(hits(1, ten)))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 10/DAY name=ten-limit rem=0]");
  }

  @Test
  void hitsOfADescriptorOverrideThoseOfTheRequest() {
    assertThat(decide(hits(2, x(hits(3, entries("ten", "k"))))))
        .isEqualTo("OK [OK 10/DAY name=ten-limit rem=7]");
  }

  @Test
  void aCostThatFitsInPartIsRefusedAndChargedCompletely() {
    assertThat(decide(hits(9, x(entries("ten", "p"))))).endsWith("rem=1]");
    assertThat(decide(hits(5, x(entries("ten", "p"))))).startsWith("OVER_LIMIT").endsWith("rem=0]");
    assertThat(decide(x(entries("ten", "p")))).startsWith("OVER_LIMIT");
  }

  @Test
  void zeroHitsOfTheRequestAreOne() {
    assertThat(decide(hits(0, x(entries("one", "z"))))).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(decide(hits(0, x(entries("one", "z")))))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0]");
  }

  @Test
  void zeroHitsOfADescriptorPeekAndPassUntilTheLimitIsExceeded() {
    RateLimitRequest look = x(hits(0, entries("one", "c")));
    RateLimitRequest charge = x(entries("one", "c"));
    assertThat(decide(look)).isEqualTo("OK [OK 1/DAY rem=1]");
    assertThat(decide(look)).isEqualTo("OK [OK 1/DAY rem=1]");
    assertThat(decide(charge)).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(decide(look)).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(decide(charge)).isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0]");
    assertThat(decide(look)).isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0]");
  }

  @Test
  void aLimitOfZeroRefusesEverythingButAPeek() {
    assertThat(decide(x(entries("zero", "a")))).isEqualTo("OVER_LIMIT [OVER_LIMIT 0/DAY rem=0]");
    assertThat(decide(x(hits(0, entries("zero", "b"))))).isEqualTo("OK [OK 0/DAY rem=0]");
  }

  @ParameterizedTest
  @CsvSource({
    "max, 4294967295/DAY, 4294967294, 84178",
    "sec, 10/SECOND, 9, 1",
    "min, 10/MINUTE, 9, 58",
    "hr, 10/HOUR, 9, 1378",
    "ten, 10/DAY name=ten-limit, 9, 84178",
    "wk, 7/WEEK, 6, 602578",
    "mo, 30/MONTH, 29, 2589778",
    "yr, 365/YEAR, 364, 31533778",
    "odd, 10/UNKNOWN, 9, 8",
  })
  void theLimitIsReportedInItsUnitAndTheResetInSecondsToTheEndOfTheWindow(
      String key, String limit, long remaining, long reset) {
    var response = AnswerText.answer(service, x(entries(key, "a")));
    assertThat(AnswerText.of(response)).isEqualTo("OK [OK " + limit + " rem=" + remaining + "]");
    assertThat(response.getStatuses(0).getDurationUntilReset())
        .isEqualTo(Duration.newBuilder().setSeconds(reset).build());
  }

  @Test
  void theResetIsRoundedUpToSeconds() {
    Setup setup = new Setup(Book.X, Setup.COUNTING, Setup.BARE);
    setup.time().set(Setup.NOW + 57_999);
    assertThat(resetOf(setup)).isEqualTo(1);
    setup.time().set(Setup.NOW + 56_999);
    assertThat(resetOf(setup)).isEqualTo(2);
    setup.time().set(Setup.NOW + 58_000);
    assertThat(resetOf(setup)).isEqualTo(60);
  }

  @Test
  void aRuleInShadowModeReportsOkWithNothingLeft() {
    for (int i = 0; i < 3; i++) {
      assertThat(decide(x(entries("sh", "a")))).isEqualTo("OK [OK 1/DAY rem=0]");
    }
  }

  @Test
  void rulesInQuotaModeRefuseOnlyTogether() {
    RateLimitRequest both = x(entries("q1", "a"), entries("q2", "a"));
    assertThat(decide(both)).isEqualTo("OK [OK 1/DAY rem=0; OK 2/DAY rem=1]");
    assertThat(decide(both)).isEqualTo("OK [OVER_LIMIT 1/DAY rem=0; OK 2/DAY rem=0]");
    assertThat(decide(both))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0; OVER_LIMIT 2/DAY rem=0]");
  }

  @Test
  void aRuleInQuotaModeRefusesAlone() {
    assertThat(decide(x(entries("q1", "s")))).startsWith("OK");
    assertThat(decide(x(entries("q1", "s")))).startsWith("OVER_LIMIT [OVER_LIMIT");
  }

  @Test
  void underQuotaModeAnUnlimitedDescriptorAdmitsTheRequest() {
    RateLimitFrontEnd quota = serving(new CompatibilityConfig(true, false, true));
    RateLimitRequest request = x(entries("zero", "a"), entries("nope", "a"));
    assertThat(AnswerText.of(AnswerText.answer(quota, request)))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0; OK]");
    assertThat(AnswerText.of(AnswerText.answer(quota, x(entries("zero", "a")))))
        .startsWith("OVER_LIMIT");
    assertThat(
            AnswerText.of(AnswerText.answer(quota, x(entries("zero", "a"), entries("unl", "a")))))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 0/DAY rem=0; OK rem=4294967295]");
  }

  @Test
  void underShadowModeOnlyTheStatusesReportRefusals() {
    RateLimitFrontEnd shadow = serving(new CompatibilityConfig(true, true, false));
    assertThat(AnswerText.of(AnswerText.answer(shadow, x(entries("zero", "a")))))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0]");
    assertThat(
            AnswerText.of(AnswerText.answer(shadow, x(entries("zero", "a"), entries("five", "a")))))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0; OK 5/DAY rem=4]");
  }

  @Test
  void aReplacedRuleIsNeitherReportedNorCharged() {
    assertThat(decide(x(entries("ten", "r"), entries("rep", "r"))))
        .isEqualTo("OK [OK; OK 2/DAY rem=1]");
    assertThat(decide(x(entries("ten", "r"), entries("unl", "r"))))
        .isEqualTo("OK [OK; OK rem=4294967295]");
    assertThat(decide(x(entries("ten", "r")))).isEqualTo("OK [OK 10/DAY name=ten-limit rem=9]");
  }

  @Test
  void aRefundNeverMakesTheCountNegative() {
    assertThat(decide(hits(4, x(entries("ten", "f"))))).endsWith("rem=6]");
    assertThat(decide(x(refund(hits(3, entries("ten", "f")))))).startsWith("OK").endsWith("rem=9]");
    assertThat(decide(x(refund(hits(100, entries("ten", "f"))))))
        .startsWith("OK")
        .endsWith("rem=10]");
    assertThat(decide(hits(10, x(entries("ten", "f"))))).startsWith("OK");
    assertThat(decide(x(entries("ten", "f")))).startsWith("OVER_LIMIT");
  }

  @Test
  void aRefundIsAdmittedEvenWhereTheCountStaysBeyondTheLimit() {
    assertThat(decide(hits(50, x(entries("one", "f"))))).startsWith("OVER_LIMIT");
    assertThat(decide(x(refund(hits(1, entries("one", "f")))))).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(decide(x(refund(hits(0, entries("one", "f")))))).isEqualTo("OK [OK 1/DAY rem=0]");
  }

  @Test
  void aRefundWithoutHitsReturnsThoseOfTheRequest() {
    assertThat(decide(hits(4, x(entries("ten", "g"))))).endsWith("rem=6]");
    assertThat(decide(hits(2, x(refund(entries("ten", "g")))))).endsWith("rem=8]");
  }

  @Test
  void anOverrideCanUseAWeekThoughTheMessageClassCannot() {
    assertThat(decide(x(limit(3, 7, entries("own", "w"))))).isEqualTo("OK [OK 3/WEEK rem=2]");
    assertThat(decide(x(limit(-1, 4, entries("own", "w")))))
        .isEqualTo("OK [OK 4294967295/DAY rem=4294967294]");
  }

  @Test
  void of100DescriptorsEachGetsItsStatusInOrder() {
    var descriptors =
        new io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor[100];
    for (int i = 0; i < descriptors.length; i++) {
      descriptors[i] = i == 50 ? entries("nope", "a") : entries("ten", "v" + i);
    }
    var response = AnswerText.answer(service, x(descriptors));
    assertThat(response.getStatusesList()).hasSize(100);
    for (int i = 0; i < 100; i++) {
      assertThat(response.getStatuses(i).getLimitRemaining()).isEqualTo(i == 50 ? 0 : 9);
    }
  }

  private String decide(RateLimitRequest request) {
    return AnswerText.of(AnswerText.answer(service, request));
  }

  private static long resetOf(Setup setup) {
    return AnswerText.answer(setup.frontEnd(), x(entries("min", "a")))
        .getStatuses(0)
        .getDurationUntilReset()
        .getSeconds();
  }

  private static RateLimitFrontEnd serving(CompatibilityConfig compatibility) {
    return new Setup(Book.X, compatibility, Setup.BARE).frontEnd();
  }
}
