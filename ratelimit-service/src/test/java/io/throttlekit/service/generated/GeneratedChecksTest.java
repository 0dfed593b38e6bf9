package io.throttlekit.service.generated;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.auth.v3.AttributeContext;
import io.envoyproxy.envoy.service.auth.v3.AttributeContext.HttpRequest;
import io.envoyproxy.envoy.service.auth.v3.CheckRequest;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse.HttpResponseCase;
import io.throttlekit.envoy.LenientParser;
import io.throttlekit.service.authz.CheckFixture;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.RequestDescriptor;
import io.throttlekit.service.config.RequestDescriptor.Attribute;
import io.throttlekit.service.config.RequestDescriptor.Context;
import io.throttlekit.service.config.RequestDescriptor.Entry;
import io.throttlekit.service.config.RequestDescriptor.Header;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.server.Setup;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bytes in, bytes out: no Check ends in anything but an answer with a status or a refusal of the
 * message, and none is admitted that the policy denies. 20,000 requests of each seed, half damaged;
 * 340,000 in the profile {@code thorough}.
 */
@Tag("slow")
class GeneratedChecksTest {
  private static final int REQUESTS = Boolean.getBoolean("throttlekit.thorough") ? 170_000 : 10_000;
  private static final String POLICY =
      """
      domain: d
      descriptors:
        - key: user
          value: banned
          rate_limit: {requests_per_unit: 0, unit: day}
        - key: user
          rate_limit: {unlimited: true}
        - key: method
          value: DELETE
          rate_limit: {requests_per_unit: 0, unit: day}
          denied: {status: 503, body: never}
        - key: where
          descriptors:
            - key: path
              value: /closed*
              rate_limit: {requests_per_unit: 0, unit: day}
      """;
  private static final List<String> TEXTS =
      List.of(
          "", "banned", "anna", "DELETE", "GET", "/closed/1?a", "/open", "d", "e", "\0", "ä€😀");
  private static final List<String> NAMES =
      List.of("x-user", "where", "domain", ":method", "X-User", "");

  private final CheckFixture authorizing =
      new CheckFixture(
          POLICY,
          new ExtAuthzConfig(
              "d",
              List.of(
                  new RequestDescriptor(List.of(new Entry("user", new Header("x-user"), null))),
                  new RequestDescriptor(List.of(new Entry("method", Attribute.METHOD, null))),
                  new RequestDescriptor(
                      List.of(
                          new Entry("where", new Context("where"), null),
                          new Entry("path", Attribute.PATH, "/closed")))),
              false),
          ConfigLoader.defaults().response(),
          Setup.NATIVE);
  private final Map<String, Integer> reached = new TreeMap<>();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {20_261_123, 20_261_124, 20_261_125})
  void noCheckCrashesAndNoDeniedOneIsAdmitted(long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    Damage damage = new Damage(random);
    for (int i = 0; i < REQUESTS; i++) {
      byte[] whole = request(random).toByteArray();
      check(whole, "seed " + seed + ", request " + i);
      check(damage.to(whole), "seed " + seed + ", damaged request " + i);
    }
    assertThat(reached)
        .containsOnlyKeys("admitted", "denied", "undescribed", "no such domain", "no message");
    assertThat(reached.values()).allMatch(times -> times > 100);
  }

  private void check(byte[] message, String which) {
    CheckRequest read;
    try {
      read = LenientParser.parse(CheckRequest.getDefaultInstance(), message);
    } catch (InvalidProtocolBufferException e) {
      read = null;
    }
    String expected = read == null ? "no message" : expected(read.getAttributes());
    reached.merge(expected, 1, Integer::sum);
    assertThat(answered(message)).as(which).isEqualTo(expected);
  }

  private String answered(byte[] message) {
    CheckResponse response;
    try {
      response = authorizing.check(message);
    } catch (InvalidRequestException invalid) {
      return String.valueOf(invalid.getMessage()).contains("protobuf")
          ? "no message"
          : "no such domain";
    }
    assertThat(response.hasStatus()).isTrue();
    if (response.getStatus().getCode() == 0) {
      assertThat(response.getHttpResponseCase()).isEqualTo(HttpResponseCase.OK_RESPONSE);
      return "admitted";
    }
    int status = response.getDeniedResponse().getStatus().getCodeValue();
    assertThat(status).isIn(403, 429, 503);
    return status == 403 ? "undescribed" : "denied";
  }

  /** Computes the expected descriptors independently from Envoy's message. */
  private static String expected(AttributeContext written) {
    Map<String, String> context = written.getContextExtensionsMap();
    HttpRequest http = written.getRequest().getHttp();
    String user = http.getHeadersMap().get("x-user");
    if (user == null && http.hasHeaderMap()) {
      List<String> raw =
          http.getHeaderMap().getHeadersList().stream()
              .filter(header -> header.getKey().equals("x-user"))
              .map(header ->
                  header.getRawValue().isEmpty()
                      ? header.getValue()
                      : header.getRawValue().toStringUtf8())
              .toList();
      user = raw.isEmpty() ? null : String.join(",", raw);
    }
    boolean closed = http.getPath().isEmpty() || http.getPath().startsWith("/closed");
    if (!context.getOrDefault("domain", "d").equals("d")) {
      return "no such domain";
    }
    if ("banned".equals(user)
        || http.getMethod().equals("DELETE")
        || (context.containsKey("where") && closed)) {
      return "denied";
    }
    boolean described = user != null || !http.getMethod().isEmpty() || context.containsKey("where");
    return described ? "admitted" : "undescribed";
  }

  private static CheckRequest request(RandomGenerator random) {
    AttributeContext.Builder written = AttributeContext.newBuilder();
    HttpRequest.Builder http = HttpRequest.newBuilder();
    if (random.nextInt(3) > 0) {
      http.setMethod(text(random));
    }
    if (random.nextBoolean()) {
      http.setPath(text(random));
    }
    for (int left = random.nextInt(3); left > 0; left--) {
      http.putHeaders(name(random), text(random));
    }
    for (int left = random.nextInt(6) - 3; left > 0; left--) {
      http.getHeaderMapBuilder()
          .addHeadersBuilder()
          .setKey(name(random))
          .setValue(text(random))
          .setRawValue(com.google.protobuf.ByteString.copyFromUtf8(text(random)));
    }
    for (int left = random.nextInt(4) - 1; left > 0; left--) {
      written.putContextExtensions(name(random), text(random));
    }
    written.getRequestBuilder().setHttp(http);
    return CheckRequest.newBuilder().setAttributes(written).build();
  }

  private static String text(RandomGenerator random) {
    return TEXTS.get(random.nextInt(TEXTS.size()));
  }

  private static String name(RandomGenerator random) {
    return NAMES.get(random.nextInt(NAMES.size()));
  }
}
