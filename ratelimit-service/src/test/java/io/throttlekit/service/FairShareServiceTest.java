package io.throttlekit.service;

import static io.throttlekit.service.authz.CheckFixture.asking;
import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.to;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.auth.v3.AuthorizationGrpc;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.rls.AnswerText;
import io.throttlekit.service.server.FixedTime;
import io.throttlekit.service.server.Setup;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tenants that share a limit, by a whole service in this process. */
class FairShareServiceTest {
  private static final String POLICY =
      """
      domain: shop
      descriptors:
        - key: api
          rate_limit:
            unit: minute
            requests_per_unit: 70
            name: shared
            fair_share:
              {tenant: org, weight_entry: plan, weights: {gold: 4, silver: 2, bronze: 1}}
      """;
  private static final Pattern READY =
      Pattern.compile("ready grpc=[^:]+:(\\d+) http=[^:]+:(\\d+) .*");

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private final FixedTime time = new FixedTime(Setup.NOW);
  private RateLimitService service;
  private ManagedChannel channel;
  private int httpPort;

  @BeforeEach
  void start() throws IOException {
    Files.writeString(folder.resolve("p.yaml"), POLICY);
    Map<String, String> environment = LoopbackService.environment(folder);
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    environment.put("THROTTLEKIT_HTTP_JSON", "true");
    environment.put("THROTTLEKIT_POLICIES_POLL_INTERVAL", "20ms");
    environment.put("THROTTLEKIT_RESPONSE_HEADERS_ENABLED", "true");
    environment.put("THROTTLEKIT_RESPONSE_STRUCTURED_HEADERS", "true");
    environment.put("THROTTLEKIT_EXT_AUTHZ_DOMAIN", "shop");
    environment.put(
        "THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS",
        "[{entries: [{key: api, value: v1}, {key: org, header: org}, {key: plan, header: plan}]}]");
    var loaded = new ConfigLoader(environment).load(Map.of());
    assertThat(loaded.errors()).isEmpty();
    service = new RateLimitService(Objects.requireNonNull(loaded.config()), time);
    assertThat(service.start()).isTrue();
    Matcher ready = READY.matcher(service.readyLine());
    assertThat(ready.matches()).as(service.readyLine()).isTrue();
    int port = Integer.parseInt(Objects.requireNonNull(ready.group(1)));
    httpPort = Integer.parseInt(Objects.requireNonNull(ready.group(2)));
    channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    service.stop();
    http.close();
  }

  @Test
  void aFloodLeavesTheOthersTheirGuaranteesAndMetricsShowIt() throws Exception {
    allThreeAsk();
    assertThat(admitted(200, "umbrella", "bronze")).isEqualTo(9);
    assertThat(admitted(100, "acme", "gold")).isEqualTo(39);
    assertThat(AnswerText.of(ask("acme", "gold")))
        .isEqualTo("OVER_LIMIT [OVER_LIMIT 40/MINUTE name=shared rem=0]");
    assertThat(AnswerText.of(ask("initech", "silver")))
        .isEqualTo("OK [OK 20/MINUTE name=shared rem=18]");
    assertThat(metrics("throttlekit_fair"))
        .contains(
            "throttlekit_fair_borrowed_units_total{domain=\"shop\",rule=\"api\"} 0.0",
            "throttlekit_fair_refused_units_total{domain=\"shop\",rule=\"api\"} 253.0",
            "throttlekit_fair_reserved_units{domain=\"shop\",rule=\"api\"} 18.0");
    String umbrella = "{domain=\"shop\",rule=\"api\",tenant=\"umbrella\"} ";
    assertThat(metrics("throttlekit_tenant"))
        .contains(
            "throttlekit_tenant_admitted_units_total" + umbrella + "10.0",
            "throttlekit_tenant_refused_units_total" + umbrella + "191.0",
            "throttlekit_tenant_guaranteed_units" + umbrella + "10.0");
  }

  @Test
  void anAbsentTenantsPartIsBorrowedUntilItComesBack() throws Exception {
    allThreeAsk();
    nextWindow();
    assertThat(admitted(100, "umbrella", "bronze")).isEqualTo(10);
    nextWindow();
    assertThat(AnswerText.of(ask("umbrella", "bronze")))
        .as("no one else was seen")
        .isEqualTo("OK [OK 70/MINUTE name=shared rem=69]");
    assertThat(AnswerText.of(ask("acme", "gold")))
        .isEqualTo("OK [OK 56/MINUTE name=shared rem=55]");
  }

  @Test
  void jsonAnswersShowTheTenantsLimit() throws Exception {
    allThreeAsk();
    String body =
        """
        {"domain": "shop", "descriptors": [{"entries": [{"key": "api", "value": "v1"},
          {"key": "org", "value": "acme"}, {"key": "plan", "value": "gold"}]}]}
        """;
    HttpRequest post =
        HttpRequest.newBuilder(uri("/json")).POST(BodyPublishers.ofString(body)).build();
    String answer = http.send(post, BodyHandlers.ofString()).body().replaceAll("\\s", "");
    assertThat(answer).contains("\"requestsPerUnit\":40", "\"limitRemaining\":38");
    assertThat(answer).contains("\"value\":\"\\\"shared\\\";r\\u003d38;t\\u003d58\"");
  }

  @Test
  void checksCarryTheTenantsLimitInHeaders() {
    allThreeAsk();
    CheckResponse admitted = check("umbrella", "bronze");
    assertThat(
            headers(
                admitted.getOkResponse().getResponseHeadersToAddList().stream()
                    .map(option -> option.getHeader())))
        .contains(
            "RateLimit-Limit: 10",
            "RateLimit-Remaining: 8",
            "RateLimit: \"shared\";r=8;t=58",
            "RateLimit-Policy: \"shared\";q=10;w=60");
    for (int i = 0; i < 8; i++) {
      assertThat(check("umbrella", "bronze").getStatus().getCode()).isZero();
    }
    CheckResponse refused = check("umbrella", "bronze");
    assertThat(refused.getDeniedResponse().getStatus().getCodeValue()).isEqualTo(429);
    assertThat(
            headers(
                refused.getDeniedResponse().getHeadersList().stream()
                    .map(option -> option.getHeader())))
        .contains("RateLimit-Limit: 10", "RateLimit-Remaining: 0", "RateLimit-Reset: 58");
  }

  @Test
  void aReloadChangesWeightsAndLimitAndKeepsWhatIsCounted() throws Exception {
    allThreeAsk();
    assertThat(admitted(100, "umbrella", "bronze")).isEqualTo(9);
    Files.writeString(
        folder.resolve("p.yaml"),
        POLICY
            .replace("bronze: 1", "bronze: 2")
            .replace("requests_per_unit: 70", "every: 60s\n" + "      requests_per_unit: 80")
            .replace("      unit: minute\n", ""));
    await()
        .until(
            () -> ask("acme", "gold").getStatuses(0).getCurrentLimit().getRequestsPerUnit() != 40);
    assertThat(AnswerText.of(ask("umbrella", "bronze")))
        .as("2 / 8 of 80, less 11")
        .isEqualTo("OK [OK 20/MINUTE name=shared rem=9]");
  }

  @Test
  void tenThousandTenantsHaveFewSeries() throws Exception {
    RateLimitServiceGrpc.RateLimitServiceBlockingStub stub =
        RateLimitServiceGrpc.newBlockingStub(channel);
    for (int i = 0; i < 100; i++) { // 10,000 tenants in few calls
      io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.Builder many =
          to("shop").toBuilder();
      for (int t = 0; t < 100; t++) {
        many.addDescriptors(
            entries("api", "v1", "org", "t" + i + "-" + t + "x".repeat(300), "plan", "none"));
      }
      var _ = stub.shouldRateLimit(many.build());
    }
    List<String> series = metrics("throttlekit_tenant_refused_units_total");
    assertThat(series).hasSize(11);
    assertThat(series).anyMatch(line -> line.contains("tenant=\"other\""));
    assertThat(String.join("\n", metrics("throttlekit_"))).hasSizeLessThan(100_000);
  }

  private void allThreeAsk() {
    assertThat(admitted(1, "acme", "gold")).isEqualTo(1);
    assertThat(admitted(1, "initech", "silver")).isEqualTo(1);
    assertThat(admitted(1, "umbrella", "bronze")).isEqualTo(1);
  }

  private int admitted(int requests, String org, String plan) {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      admitted += ask(org, plan).getOverallCode() == RateLimitResponse.Code.OK ? 1 : 0;
    }
    return admitted;
  }

  private RateLimitResponse ask(String org, String plan) {
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .shouldRateLimit(to("shop", entries("api", "v1", "org", org, "plan", plan)));
  }

  private CheckResponse check(String org, String plan) {
    return AuthorizationGrpc.newBlockingStub(channel).check(asking("org", org, "plan", plan));
  }

  private void nextWindow() {
    time.set(time.wallMillis() + 60_000);
  }

  private static List<String> headers(Stream<HeaderValue> headers) {
    return headers.map(header -> header.getKey() + ": " + header.getValue()).toList();
  }

  private List<String> metrics(String prefix) throws Exception {
    HttpRequest get = HttpRequest.newBuilder(uri("/metrics")).build();
    return http.send(get, BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith(prefix))
        .toList();
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + httpPort + path);
  }
}
