package io.throttlekit.service.rls;

import static io.throttlekit.service.server.Ask.entries;
import static io.throttlekit.service.server.Ask.hits;
import static io.throttlekit.service.server.Ask.limit;
import static io.throttlekit.service.server.Ask.refund;
import static io.throttlekit.service.server.Ask.x;
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
    assertThat(ask(x(entries("five", "d"), entries("five", "d"))))
        .isEqualTo("OK [OK 5/DAY rem=4; OK 5/DAY rem=3]");
  }

  @Test
  void hitsOfTheRequestAreTheCostOfEachDescriptor() {
    RateLimitRequest ten = x(entries("ten", "h"));
    assertThat(ask(hits(4, ten))).isEqualTo("OK [OK 10/DAY name=ten-limit rem=6]");
    assertThat(ask(hits(6, ten))).isEqualTo("OK [OK 10/DAY name=ten-limit rem=0]");
    assertThat(ask(hits(1, ten))).isEqualTo("OVER_LIMIT [OVER_LIMIT 10/DAY name=ten-limit rem=0]");
  }

  @Test
  void hitsOfADescriptorWinOverThoseOfTheRequest() {
    assertThat(ask(hits(2, x(hits(3, entries("ten", "k"))))))
        .isEqualTo("OK [OK 10/DAY name=ten-limit rem=7]");
  }

  @Test
  void aPartOfACostThatWouldFitIsNotAdmittedButAllOfItIsCharged() {
    assertThat(ask(hits(9, x(entries("ten", "p"))))).endsWith("rem=1]");
    assertThat(ask(hits(5, x(entries("ten", "p"))))).startsWith("OVER_LIMIT").endsWith("rem=0]");
    assertThat(ask(x(entries("ten", "p")))).startsWith("OVER_LIMIT");
  }

  @Test
  void zeroHitsOfTheRequestAreOne() {
    assertThat(ask(hits(0, x(entries("one", "z"))))).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(ask(hits(0, x(entries("one", "z")))))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0]");
  }

  @Test
  void zeroHitsOfADescriptorOnlyLookAndAreFineUntilTheCountIsBeyondTheLimit() {
    RateLimitRequest look = x(hits(0, entries("one", "c")));
    RateLimitRequest charge = x(entries("one", "c"));
    assertThat(ask(look)).isEqualTo("OK [OK 1/DAY rem=1]");
    assertThat(ask(look)).isEqualTo("OK [OK 1/DAY rem=1]");
    assertThat(ask(charge)).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(ask(look)).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(ask(charge)).isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0]");
    assertThat(ask(look)).isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0]");
  }

  @Test
  void aLimitOfZeroRefusesEverythingButALook() {
    assertThat(ask(x(entries("zero", "a")))).isEqualTo("OVER_LIMIT [OVER_LIMIT 0/DAY rem=0]");
    assertThat(ask(x(hits(0, entries("zero", "b"))))).isEqualTo("OK [OK 0/DAY rem=0]");
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
  void aPartOfASecondToTheResetCountsAsOne() {
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
      assertThat(ask(x(entries("sh", "a")))).isEqualTo("OK [OK 1/DAY rem=0]");
    }
  }

  @Test
  void rulesInQuotaModeRefuseOnlyTogether() {
    RateLimitRequest both = x(entries("q1", "a"), entries("q2", "a"));
    assertThat(ask(both)).isEqualTo("OK [OK 1/DAY rem=0; OK 2/DAY rem=1]");
    assertThat(ask(both)).isEqualTo("OK [OVER_LIMIT 1/DAY rem=0; OK 2/DAY rem=0]");
    assertThat(ask(both)).isEqualTo("OVER_LIMIT [OVER_LIMIT 1/DAY rem=0; OVER_LIMIT 2/DAY rem=0]");
  }

  @Test
  void aRuleInQuotaModeRefusesAlone() {
    assertThat(ask(x(entries("q1", "s")))).startsWith("OK");
    assertThat(ask(x(entries("q1", "s")))).startsWith("OVER_LIMIT [OVER_LIMIT");
  }

  @Test
  void underQuotaModeOneDescriptorThatNothingLimitsLetsTheRequestPass() {
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
  void underShadowModeOnlyTheStatusesTell() {
    RateLimitFrontEnd shadow = serving(new CompatibilityConfig(true, true, false));
    assertThat(AnswerText.of(AnswerText.answer(shadow, x(entries("zero", "a")))))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0]");
    assertThat(
            AnswerText.of(AnswerText.answer(shadow, x(entries("zero", "a"), entries("five", "a")))))
        .isEqualTo("OK [OVER_LIMIT 0/DAY rem=0; OK 5/DAY rem=4]");
  }

  @Test
  void aReplacedRuleIsNeitherReportedNorCharged() {
    assertThat(ask(x(entries("ten", "r"), entries("rep", "r"))))
        .isEqualTo("OK [OK; OK 2/DAY rem=1]");
    assertThat(ask(x(entries("ten", "r"), entries("unl", "r"))))
        .isEqualTo("OK [OK; OK rem=4294967295]");
    assertThat(ask(x(entries("ten", "r")))).isEqualTo("OK [OK 10/DAY name=ten-limit rem=9]");
  }

  @Test
  void aRefundGivesBackAndEndsAtNothingCounted() {
    assertThat(ask(hits(4, x(entries("ten", "f"))))).endsWith("rem=6]");
    assertThat(ask(x(refund(hits(3, entries("ten", "f")))))).startsWith("OK").endsWith("rem=9]");
    assertThat(ask(x(refund(hits(100, entries("ten", "f")))))).startsWith("OK").endsWith("rem=10]");
    assertThat(ask(hits(10, x(entries("ten", "f"))))).startsWith("OK");
    assertThat(ask(x(entries("ten", "f")))).startsWith("OVER_LIMIT");
  }

  @Test
  void aRefundIsAdmittedEvenWhereTheCountStaysBeyondTheLimit() {
    assertThat(ask(hits(50, x(entries("one", "f"))))).startsWith("OVER_LIMIT");
    assertThat(ask(x(refund(hits(1, entries("one", "f")))))).isEqualTo("OK [OK 1/DAY rem=0]");
    assertThat(ask(x(refund(hits(0, entries("one", "f")))))).isEqualTo("OK [OK 1/DAY rem=0]");
  }

  @Test
  void aRefundWithoutHitsGivesBackThoseOfTheRequest() {
    assertThat(ask(hits(4, x(entries("ten", "g"))))).endsWith("rem=6]");
    assertThat(ask(hits(2, x(refund(entries("ten", "g")))))).endsWith("rem=8]");
  }

  @Test
  void anOverrideKnowsTheWeekThoughTheMessageClassDoesNot() {
    assertThat(ask(x(limit(3, 7, entries("own", "w"))))).isEqualTo("OK [OK 3/WEEK rem=2]");
    assertThat(ask(x(limit(-1, 4, entries("own", "w")))))
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

  private String ask(RateLimitRequest request) {
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
