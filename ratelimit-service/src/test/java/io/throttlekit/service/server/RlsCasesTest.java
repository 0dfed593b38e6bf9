package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.type.v3.RateLimitUnit;
import io.grpc.ManagedChannel;
import io.throttlekit.service.config.CompatibilityConfig;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** What envoyproxy/ratelimit really answered, asked of this service over gRPC. */
class RlsCasesTest {
  private final JsonObject file = read();

  @TestFactory
  Stream<DynamicTest> answersAsEnvoysOwnServiceDoes() {
    return cases()
        .map(c -> DynamicTest.dynamicTest(text(c, "id") + ' ' + text(c, "title"), () -> run(c)));
  }

  @Test
  void everyCaseIsThere() {
    assertThat(cases()).hasSize(35);
  }

  private Stream<JsonObject> cases() {
    return file.getAsJsonArray("cases").asList().stream().map(JsonElement::getAsJsonObject);
  }

  private void run(JsonObject testCase) {
    // That program's flag against charging what is refused is what this service does anyway.
    CompatibilityConfig compatibility =
        text(testCase, "env").contains("stop=True") ? Setup.NATIVE : Setup.COUNTING;
    String policies = text(file.getAsJsonObject("configs"), text(testCase, "config"));
    Setup setup = new Setup(policies, compatibility, Setup.BARE);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    try {
      var stub = RateLimitServiceGrpc.newBlockingStub(channel);
      int step = 0;
      for (JsonElement each : testCase.getAsJsonArray("steps")) {
        JsonObject expected = each.getAsJsonObject().getAsJsonObject("expect");
        RateLimitResponse response =
            stub.shouldRateLimit(request(each.getAsJsonObject().getAsJsonObject("request")));
        String at = "step " + ++step;
        assertThat(response.getOverallCode().name()).as(at).isEqualTo(text(expected, "overall"));
        assertThat(response.getStatusesList().stream().map(RlsCasesTest::told))
            .as(at)
            .isEqualTo(expectedStatuses(expected.getAsJsonArray("statuses")));
      }
    } finally {
      channel.shutdownNow();
      server.stop();
    }
  }

  private record Told(String code, long remaining, String limit) {}

  private static Told told(DescriptorStatus status) {
    var limit = status.getCurrentLimit();
    String text =
        status.hasCurrentLimit()
            ? Integer.toUnsignedLong(limit.getRequestsPerUnit())
                + "/"
                + limit.getUnit()
                + " "
                + limit.getName()
            : "none";
    assertThat(status.hasDurationUntilReset()).isEqualTo(status.hasCurrentLimit());
    return new Told(
        status.getCode().name(), Integer.toUnsignedLong(status.getLimitRemaining()), text);
  }

  private static List<Told> expectedStatuses(JsonArray statuses) {
    List<Told> expected = new ArrayList<>();
    for (JsonElement each : statuses) {
      JsonObject status = each.getAsJsonObject();
      JsonElement limit = status.get("current_limit");
      String text =
          limit.isJsonNull()
              ? "none"
              : limit.getAsJsonObject().get("requests_per_unit").getAsLong()
                  + "/"
                  + text(limit.getAsJsonObject(), "unit")
                  + " "
                  + text(limit.getAsJsonObject(), "name");
      expected.add(new Told(text(status, "code"), status.get("limit_remaining").getAsLong(), text));
    }
    return expected;
  }

  private static RateLimitRequest request(JsonObject json) {
    RateLimitRequest.Builder request =
        RateLimitRequest.newBuilder()
            .setDomain(text(json, "domain"))
            .setHitsAddend(json.get("hits_addend").getAsInt());
    for (JsonElement each : json.getAsJsonArray("descriptors")) {
      JsonObject descriptor = each.getAsJsonObject();
      RateLimitDescriptor message =
          Ask.entries(
              descriptor.getAsJsonArray("entries").asList().stream()
                  .flatMap(entry -> entry.getAsJsonArray().asList().stream())
                  .map(JsonElement::getAsString)
                  .toArray(String[]::new));
      if (descriptor.has("limit")) {
        JsonArray limit = descriptor.getAsJsonArray("limit");
        int unit = RateLimitUnit.valueOf(limit.get(1).getAsString()).getNumber();
        message = Ask.limit(limit.get(0).getAsInt(), unit, message);
      }
      assertThat(descriptor.keySet()).isSubsetOf("entries", "limit");
      request.addDescriptors(message);
    }
    return request.build();
  }

  private static String text(JsonObject object, String name) {
    return object.get(name).getAsString();
  }

  private static JsonObject read() {
    try (Reader reader =
        new InputStreamReader(
            Objects.requireNonNull(RlsCasesTest.class.getResourceAsStream("/rls-cases.json")),
            StandardCharsets.UTF_8)) {
      return JsonParser.parseReader(reader).getAsJsonObject();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
