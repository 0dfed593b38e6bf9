package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.hits;
import static io.throttlekit.service.server.TestRequests.limit;
import static io.throttlekit.service.server.TestRequests.to;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BadRequestsTest {
  private final RateLimitFrontEnd service = new Setup(Book.X, Setup.NATIVE, Setup.BARE).frontEnd();

  @Test
  void aRequestNeedsADomain() {
    refuses(to("", entries("a", "b")), "rate limit domain must not be empty");
    refuses(RateLimitRequest.getDefaultInstance(), "rate limit domain must not be empty");
  }

  @Test
  void aRequestNeedsADescriptor() {
    refuses(to("x"), "rate limit descriptor list must not be empty");
  }

  @Test
  void aRequestHasNoMoreDescriptorsThanAllowed() {
    RateLimitDescriptor[] descriptors =
        Collections.nCopies(201, entries("a", "b")).toArray(RateLimitDescriptor[]::new);
    refuses(x(descriptors), "a request may have at most 200 descriptors, this one has 201");
  }

  @Test
  void reportsATooLongEntryAndTheSettingThatLimitsIt() {
    String longest = "v".repeat(65_536);
    assertThat(AnswerText.of(AnswerText.answer(service, x(entries("ten", longest)))))
        .endsWith("rem=9]");
    refuses(
        x(entries("ten", longest), entries("ten", longest + 'v')),
        "the value of entry \"ten\" has 65537 bytes, more than grpc.max_entry_bytes (65536)");
    assertThat(AnswerText.of(AnswerText.answer(service, x(entries("ten", longest)))))
        .endsWith("rem=8]");
    refuses(
        x(entries("ü\n" + "k".repeat(70_000), "v")),
        "the key of entry \"??"
            + "k".repeat(58)
            + "...\" has 70003 bytes, more than grpc.max_entry_bytes (65536)");
  }

  /** Envoy copies headers of clients unchecked, and treats an error as "admitted". */
  @Test
  void bytesThatAreNotUtf8AreCountedAsReplacementsAndNeverTooLong() {
    String longest = "?".repeat(65_536);
    byte[] request = x(entries("ten", longest)).toByteArray();
    for (int i = 0; i < request.length; i++) {
      request[i] = request[i] == '?' ? (byte) 0xff : request[i];
    }
    String value = service.read(request).descriptors().getFirst().entries()[1];
    assertThat(value).isEqualTo("\uFFFD".repeat(65_536));
    assertThat(AnswerText.of(AnswerText.answer(service, x(entries("ten", value)))))
        .endsWith("rem=9]");
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 53, Long.MAX_VALUE, Long.MIN_VALUE, -1})
  void hitsOutOfRangeAreRejectedAndChargeNothing(long hits) {
    refuses(
        x(entries("ten", "o"), hits(hits, entries("ten", "o"))),
        "hits_addend must be from 0 to 2^53-1, was " + Long.toUnsignedString(hits));
    assertThat(AnswerText.of(AnswerText.answer(service, x(entries("ten", "o")))))
        .endsWith("rem=9]");
  }

  @Test
  void theMaximumOfHitsDoesNotOverflow() {
    long most = (1L << 53) - 1;
    RateLimitFrontEnd counting = new Setup(Book.X, Setup.COUNTING, Setup.BARE).frontEnd();
    for (int i = 0; i < 5; i++) {
      assertThat(
              AnswerText.of(
                  AnswerText.answer(
                      counting,
                      x(hits(most, entries("max", "a")), hits(most, entries("max", "a"))))))
          .isEqualTo(
              "OVER_LIMIT [OVER_LIMIT 4294967295/DAY rem=0; OVER_LIMIT 4294967295/DAY rem=0]");
    }
    assertThat(AnswerText.of(AnswerText.answer(service, hits(-1, x(entries("max", "b"))))))
        .endsWith("OK 4294967295/DAY rem=0]");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, -1})
  void aLimitOfTheRequestNeedsAUnit(int unit) {
    refuses(
        x(limit(1, unit, entries("k", "v"))),
        "the limit of a descriptor needs a unit from SECOND to YEAR, was "
            + (unit == 0 ? "UNKNOWN" : unit));
  }

  @Test
  void requestsAreAnsweredOnlyOncePoliciesAreLoaded() {
    Setup setup = new Setup(null, Setup.NATIVE, Setup.BARE);
    assertThatThrownBy(() -> AnswerText.answer(setup.frontEnd(), x(entries("a", "b"))))
        .isInstanceOf(NoPoliciesException.class)
        .hasMessage("no rate limit configuration loaded");
  }

  @Test
  void anUnknownDomainIsUnlimitedDespiteAnOverride() {
    assertThat(
            AnswerText.of(
                AnswerText.answer(
                    service, to("nope", limit(0, 4, entries("a", "b")), entries("c", "d")))))
        .isEqualTo("OK [OK; OK]");
  }

  @Test
  void aDescriptorWithoutEntriesIsNotLimited() {
    assertThat(AnswerText.of(AnswerText.answer(service, x(entries())))).isEqualTo("OK [OK]");
  }

  private void refuses(RateLimitRequest request, String message) {
    assertThatThrownBy(() -> AnswerText.answer(service, request))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage(message);
  }
}
