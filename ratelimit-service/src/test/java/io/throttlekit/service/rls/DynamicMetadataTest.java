package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.hits;
import static io.throttlekit.service.server.TestRequests.limit;
import static io.throttlekit.service.server.TestRequests.to;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.Setup;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class DynamicMetadataTest {
  private static final String POLICIES =
      """
      domain: rl
      descriptors:
        - key: service
          value: one
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 1}
          metadata: {quota: {name: one, tags: [a, 2, true, null]}}
        - key: service
          value: two
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 2}
          metadata: {quota: {name: two, size: 5}}
        - key: hard
          rate_limit: {unit: minute, requests_per_unit: 0}
      """;
  private static final ResponseConfig METADATA =
      new ResponseConfig(
          ConfigLoader.defaults().response().headers(),
          false,
          false,
          ConfigLoader.defaults().response().deniedBody(),
          true);
  private static final RateLimitRequest BOTH =
      to("rl", entries("service", "one"), entries("service", "two"));

  private final RateLimitFrontEnd counting = serving(Setup.COUNTING);

  @Test
  void describesTheRequestAndMergesTheMetadataOfAdmittingRules() {
    assertThatMetadata(
        counting,
        hits(1, BOTH),
        """
        {"domain": "rl", "hitsAddend": 1,
         "descriptors": [{"entries": ["service=one"]}, {"entries": ["service=two"]}],
         "metadata": {"quota": {"name": "one", "tags": ["a", 2, true, null], "size": 5}}}
        """);
    assertThatMetadata(
        counting,
        BOTH,
        """
        {"domain": "rl",
         "descriptors": [{"entries": ["service=one"]}, {"entries": ["service=two"]}],
         "metadata": {"quota": {"name": "two", "size": 5}}}
        """);
  }

  @Test
  void neverChangesThePolicies() {
    AnswerText.answer(counting, BOTH);
    assertThatMetadata(
        counting,
        to("rl", entries("service", "two")),
        """
        {"domain": "rl", "descriptors": [{"entries": ["service=two"]}],
         "metadata": {"quota": {"name": "two", "size": 5}}}
        """);
  }

  @Test
  void containsHitsAndLimitsOfDescriptors() {
    assertThatMetadata(
        counting,
        to("rl", hits(0, limit(3, 4, entries("a", "b", "c", "")))),
        """
        {"domain": "rl",
         "descriptors":
           [{"entries": ["a=b", "c="], "limit": "requests_per_unit: 3 unit: DAY", "hitsAddend": 0}]}
        """);
  }

  @Test
  void namesTheRefusingRuleUnlessADropIn() {
    RateLimitRequest request = to("rl", entries("service", "one"), entries("hard", "x"));
    assertThatMetadata(
        serving(Setup.NATIVE),
        request,
        """
        {"domain": "rl", "descriptors": [{"entries": ["service=one"]}, {"entries": ["hard=x"]}],
         "metadata": {"quota": {"name": "one", "tags": ["a", 2, true, null]}},
         "decidedBy": "hard"}
        """);
    assertThat(
            AnswerText.answer(counting, request).getDynamicMetadata().containsFields("decidedBy"))
        .isFalse();
  }

  @Test
  void namesTheFirstQuotaWhenAllOfThemRefused() {
    RateLimitFrontEnd service = serving(Setup.NATIVE);
    AnswerText.answer(service, to("rl", entries("service", "one")));
    assertThat(
            AnswerText.answer(service, to("rl", entries("service", "one")))
                .getDynamicMetadata()
                .getFieldsOrThrow("decidedBy")
                .getStringValue())
        .isEqualTo("service_one");
  }

  @Test
  void isAbsentUnlessConfigured() {
    RateLimitFrontEnd service = new Setup(POLICIES, Setup.NATIVE, Setup.BARE).frontEnd();
    assertThat(AnswerText.answer(service, BOTH).hasDynamicMetadata()).isFalse();
  }

  /** A request that can be read is answered, however deep its unknown groups are nested. */
  @Test
  void isPresentForEveryRequestThatIsRead() throws Exception {
    RateLimitFrontEnd service = serving(Setup.NATIVE);
    int answered = 0;
    int refused = 0;
    for (int depth = 95; depth <= 105; depth++) {
      byte[] message = withGroups(depth);
      try {
        var asked = service.read(message);
        Answer answer = Objects.requireNonNull(service.decide(asked, new NoDeferredAnswer()));
        RateLimitResponse response = RateLimitResponse.parseFrom(service.write(asked, answer));
        assertThat(response.getDynamicMetadata().getFieldsMap()).containsKey("descriptors");
        answered++;
      } catch (InvalidRequestException e) {
        refused++;
      }
    }
    assertThat(answered).isBetween(5, 10);
    assertThat(refused).isBetween(1, 6);
  }

  private static byte[] withGroups(int depth) {
    UnknownFieldSet groups = UnknownFieldSet.getDefaultInstance();
    for (int i = 0; i < depth; i++) {
      groups =
          UnknownFieldSet.newBuilder()
              .addField(15, UnknownFieldSet.Field.newBuilder().addGroup(groups).build())
              .build();
    }
    return to("rl", entries("hard", "a").toBuilder().setUnknownFields(groups).build())
        .toByteArray();
  }

  private record NoDeferredAnswer() implements AnswerCallback {
    @Override
    public void answered(Answer answer) {
      throw new AssertionError("answered later");
    }

    @Override
    public void failed(Throwable cause) {
      throw new AssertionError(cause);
    }
  }

  private static void assertThatMetadata(
      RateLimitFrontEnd service, RateLimitRequest request, String json) {
    try {
      String actual =
          JsonFormat.printer().print(AnswerText.answer(service, request).getDynamicMetadata());
      assertThat(JsonParser.parseString(actual)).isEqualTo(JsonParser.parseString(json));
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  private static RateLimitFrontEnd serving(CompatibilityConfig compatibility) {
    return new Setup(POLICIES, compatibility, METADATA).frontEnd();
  }
}
