package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import io.envoyproxy.envoy.type.v3.RateLimitUnit;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** Recorded answers of envoyproxy/ratelimit, and comparisons with those of a server. */
final class RlsCases {

  private static final JsonObject FILE = read();

  private RlsCases() {}

  static List<JsonObject> all() {
    return FILE.getAsJsonArray("cases").asList().stream()
        .map(JsonElement::getAsJsonObject)
        .toList();
  }

  /** Returns the policies that a case was recorded with. */
  static String policies(JsonObject testCase) {
    return text(FILE.getAsJsonObject("configs"), text(testCase, "config"));
  }

  /** Returns whether envoyproxy/ratelimit was configured not to charge refused requests. */
  static boolean stops(JsonObject testCase) {
    return text(testCase, "env").contains("stop=True");
  }

  /** Returns the paths of a case's descriptors: cases with disjoint paths share no counter. */
  static Set<String> keys(JsonObject testCase) {
    Set<String> keys = new TreeSet<>();
    for (RateLimitRequest request : requests(testCase)) {
      for (RateLimitDescriptor descriptor : request.getDescriptorsList()) {
        StringBuilder path = new StringBuilder(request.getDomain());
        descriptor.getEntriesList().forEach(entry -> path.append('/').append(entry.getKey()));
        keys.add(path.toString());
      }
    }
    return keys;
  }

  private static List<RateLimitRequest> requests(JsonObject testCase) {
    return testCase.getAsJsonArray("steps").asList().stream()
        .map(step -> request(step.getAsJsonObject().getAsJsonObject("request")))
        .toList();
  }

  /** Sends a case's requests over gRPC and compares the answers. */
  static void check(JsonObject testCase, RateLimitServiceBlockingStub stub) {
    check(testCase, stub::shouldRateLimit);
  }

  /** Sends a case's requests and compares the answers. */
  static void check(JsonObject testCase, Function<RateLimitRequest, RateLimitResponse> server) {
    int step = 0;
    for (JsonElement each : testCase.getAsJsonArray("steps")) {
      JsonObject expected = each.getAsJsonObject().getAsJsonObject("expect");
      RateLimitResponse response =
          server.apply(request(each.getAsJsonObject().getAsJsonObject("request")));
      String at = text(testCase, "id") + " step " + ++step;
      assertThat(response.getOverallCode().name()).as(at).isEqualTo(text(expected, "overall"));
      assertThat(response.getStatusesList().stream().map(RlsCases::fieldsOf))
          .as(at)
          .isEqualTo(expectedStatuses(expected.getAsJsonArray("statuses")));
    }
  }

  /** Returns a client of {@code POST /json} on an HTTP port. */
  static Function<RateLimitRequest, RateLimitResponse> json(HttpClient client, String hostPort) {
    return request -> {
      try {
        HttpRequest post =
            HttpRequest.newBuilder(URI.create("http://" + hostPort + "/json"))
                .POST(BodyPublishers.ofString(JsonFormat.printer().print(request)))
                .build();
        HttpResponse<String> answer = client.send(post, BodyHandlers.ofString());
        RateLimitResponse.Builder response = RateLimitResponse.newBuilder();
        assertThat(answer.statusCode()).as(answer.body()).isIn(200, 429);
        JsonFormat.parser().merge(answer.body(), response);
        assertThat(answer.statusCode())
            .isEqualTo(response.getOverallCode() == RateLimitResponse.Code.OK ? 200 : 429);
        return response.build();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    };
  }

  private record StatusFields(String code, long remaining, String limit) {}

  private static StatusFields fieldsOf(DescriptorStatus status) {
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
    return new StatusFields(
        status.getCode().name(), Integer.toUnsignedLong(status.getLimitRemaining()), text);
  }

  private static List<StatusFields> expectedStatuses(JsonArray statuses) {
    List<StatusFields> expected = new ArrayList<>();
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
      expected.add(
          new StatusFields(text(status, "code"), status.get("limit_remaining").getAsLong(), text));
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
          TestRequests.entries(
              descriptor.getAsJsonArray("entries").asList().stream()
                  .flatMap(entry -> entry.getAsJsonArray().asList().stream())
                  .map(JsonElement::getAsString)
                  .toArray(String[]::new));
      if (descriptor.has("limit")) {
        JsonArray limit = descriptor.getAsJsonArray("limit");
        int unit = RateLimitUnit.valueOf(limit.get(1).getAsString()).getNumber();
        message = TestRequests.limit(limit.get(0).getAsInt(), unit, message);
      }
      if (descriptor.has("hits_addend")) {
        message = TestRequests.hits(descriptor.get("hits_addend").getAsLong(), message);
      }
      assertThat(descriptor.keySet()).isSubsetOf("entries", "limit", "hits_addend");
      request.addDescriptors(message);
    }
    return request.build();
  }

  static String text(JsonObject object, String name) {
    return object.get(name).getAsString();
  }

  private static JsonObject read() {
    try (Reader reader =
        new InputStreamReader(
            Objects.requireNonNull(RlsCases.class.getResourceAsStream("/rls-cases.json")),
            StandardCharsets.UTF_8)) {
      return JsonParser.parseReader(reader).getAsJsonObject();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
