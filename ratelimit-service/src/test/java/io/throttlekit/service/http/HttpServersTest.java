package io.throttlekit.service.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.config.HttpConfig;
import io.throttlekit.service.config.HttpConfig.DebugConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.JsonAnswer;
import io.throttlekit.service.telemetry.Scrape;
import io.throttlekit.service.telemetry.Telemetry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpServersTest {
  private static final String POLICIES =
      """
      domain: foo
      descriptors:
        - {key: k1, value: v1, rate_limit: {unit: minute, requests_per_unit: 3}}
        - {key: b, shadow_mode: true, rate_limit: {unit: DAY, requests_per_unit: 5}}
        - {key: a, quota_mode: true, rate_limit: {every: 10s, requests_per_unit: 7, algorithm: gcra}}
      """;

  private final SetProbes probes = new SetProbes();
  private final PolicyStore policies = new PolicyStore();
  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
  private final HttpFixture service;
  private final HttpFixture debug;

  HttpServersTest() throws Exception {
    TimeSource time = TimeSource.system();
    Scrape scrape = Objects.requireNonNull(telemetry.scrape());
    HttpServers servers = new HttpServers(time, new MetricsRoute(scrape, time));
    service =
        new HttpFixture(
            servers.service(
                new HttpConfig("127.0.0.1", 0, false, false, 64),
                _ -> new JsonAnswer(true, "{}", null),
                1_000,
                false,
                probes));
    debug =
        new HttpFixture(
            servers.debug(
                new DebugConfig("127.0.0.1", 0),
                policies,
                () -> "memory",
                () -> List.of("a: 1", "b: 2"),
                () -> "# refusals\nd: user=bob: refusals=3\n",
                new ConcurrencyLimiter(time, (_, _) -> {}, ConcurrencyListener.NONE, () -> 1),
                null));
  }

  @AfterEach
  void close() {
    service.close();
    debug.close();
    telemetry.close();
  }

  @Test
  void healthReflectsWhetherTheProcessServes() throws Exception {
    assertThat(service.get("/healthcheck").statusCode()).isEqualTo(200);
    assertThat(service.get("/healthcheck").body()).isEqualTo("OK");

    probes.obstacles = List.of("draining");

    assertThat(service.get("/healthcheck").statusCode()).isEqualTo(500);
    assertThat(service.get("/healthcheck").body()).isEmpty();
  }

  @Test
  void eachProbeAnswers503WithItsReasonAndNoOther() throws Exception {
    assertProbes(200, "OK", 200, "OK", 200, "OK");
    probes.started = false;
    probes.obstacles = List.of("starting", "no policies");
    assertProbes(503, "starting\n", 503, "starting\nno policies\n", 200, "OK");
    probes.started = true;
    assertProbes(200, "OK", 503, "starting\nno policies\n", 200, "OK");
    probes.obstacles = List.of();
    probes.hangs = List.of("event loops: 1");
    assertProbes(200, "OK", 200, "OK", 503, "event loops: 1\n");
  }

  private void assertProbes(
      int started, String starting, int ready, String obstacles, int live, String hangs)
      throws Exception {
    assertProbe("/startupz", started, starting);
    assertProbe("/readyz", ready, obstacles);
    assertProbe("/livez", live, hangs);
  }

  private void assertProbe(String path, int status, String body) throws Exception {
    HttpResponse<String> answer = service.get(path);
    assertThat(answer.statusCode()).as(path).isEqualTo(status);
    assertThat(answer.body()).as(path).isEqualTo(body);
  }

  @Test
  void noPageIsTakenForAnotherTypeByABrowser() throws Exception {
    for (String path :
        List.of("/", "/concurrency", "/rlconfig", "/refusals", "/stats", "/debug/threads")) {
      assertThat(debug.get(path).headers().firstValue("X-Content-Type-Options"))
          .as(path)
          .hasValue("nosniff");
    }
  }

  @Test
  void servesMetricsOnBothPortsInTheAcceptedFormat() throws Exception {
    for (HttpFixture http : List.of(service, debug)) {
      HttpResponse<String> text = http.get("/metrics");
      assertThat(text.statusCode()).isEqualTo(200);
      assertThat(text.headers().firstValue("Content-Type").orElseThrow())
          .startsWith("text/plain; version=0.0.4");
      HttpResponse<String> open =
          http.get("/metrics", "Accept", "application/openmetrics-text; version=1.0.0");
      assertThat(open.headers().firstValue("Content-Type").orElseThrow())
          .startsWith("application/openmetrics-text");
      assertThat(open.body()).endsWith("# EOF\n");
    }
  }

  @Test
  void everythingElseIs404() throws Exception {
    for (String path : List.of("/", "/json", "/json/x", "/healthcheck/", "/rlconfig", "/stats")) {
      assertThat(service.get(path).statusCode()).as(path).isEqualTo(404);
    }
    assertThat(debug.get("/json").statusCode()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET mailto:a", "CONNECT a:80", "OPTIONS urn:x"})
  void anAddressWithoutAPathIsA400AndIsDisconnected(String request) throws Exception {
    // Never closed for its age.
    Duration day = Duration.ofDays(1);
    HttpBounds bounds = new HttpBounds(10, 0, 1_000, 10, day, day, day);
    Map<String, Route> routes = Map.of("/here", _ -> Reply.empty(204));
    try (HttpFixture patient =
            new HttpFixture(new HttpListener("127.0.0.1", 0, bounds, TimeSource.system(), routes));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), patient.port())) {
      write(socket, request + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 400 ");
      assertThat(patient.get("/here").statusCode()).isEqualTo(204);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET,                       400",
    "GET /a b HTTP/1.1,         400",
    "GET http://[ HTTP/1.1,     400",
    "OPTIONS * HTTP/1.1,        404",
    "GET http://localhost/none HTTP/1.1, 404",
    "GET http://localhost:80/healthcheck HTTP/1.1, 200"
  })
  void everyOtherRequestLineIsAnswered(String line, int status) throws Exception {
    try (Socket socket = open()) {
      write(socket, line + "\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 " + status + " ");
    }
  }

  @Test
  void headRequestsGetNoBody() throws Exception {
    HttpResponse<String> answer = service.send("HEAD", "/healthcheck", new byte[0]);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEmpty();
  }

  @Test
  void listsTheRulesInFileOrderInTheFormatOfTheOriginal() throws Exception {
    policies.loaded(book(), List.of(), 1_700_000_000_000L);

    String text = debug.get("/rlconfig").body();

    assertThat(text.lines().filter(line -> !line.startsWith("#")))
        .containsExactly(
            "foo.k1_v1: unit=MINUTE requests_per_unit=3, shadow_mode: false, quota_mode: false",
            "foo.b: unit=DAY requests_per_unit=5, shadow_mode: true, quota_mode: false",
            "foo.a: unit=UNKNOWN requests_per_unit=7, shadow_mode: false, quota_mode: true");
    assertThat(text)
        .contains("# generation: 1\n", "# loaded: 2023-11-14T22:13:20Z\n", "# last load: good\n")
        .contains("#   7 per 10s (gcra, burst 7), in quota mode\n");
  }

  @Test
  void concurrencyRulesAreListedAsComments() throws Exception {
    PolicyBook limit =
        Objects.requireNonNull(
            load("""
            domain: foo
            descriptors:
              - {key: a, concurrency: {max: 7}}
              - {key: b, rate_limit: {unlimited: true}}
            """)
                .book());
    policies.loaded(limit, List.of(), 1_700_000_000_000L);
    String text = debug.get("/rlconfig").body();
    assertThat(text.lines().filter(line -> line.contains("foo.")))
        .satisfiesExactly(
            line -> assertThat(line).startsWith("# foo.a: 1 to 7 in flight (probed_vegas, from 7)"),
            line -> assertThat(line).startsWith("foo.b: unit=UNKNOWN requests_per_unit=0"));
    assertThat(text.lines().filter(line -> line.contains("in flight"))).hasSize(1);
  }

  @Test
  void showsTheLastLoadErrorBesideTheCurrentRules() throws Exception {
    policies.loaded(book(), List.of(), 1_700_000_000_000L);
    LoadResult bad = load("domain: foo\ndescriptors:\n  - {key: k, rate_limit: {unit: eon}}\n");
    policies.failed(bad.problems(), "1 error in 1 file");

    String text = debug.get("/rlconfig").body();

    assertThat(text)
        .contains("foo.k1_v1: unit=MINUTE", "# last load: failed 1 error in 1 file\n")
        .contains("# " + bad.problems().getFirst());
  }

  @Test
  void listsTheRulesAsJson() throws Exception {
    policies.loaded(book(), List.of(), 1_700_000_000_000L);
    policies.failed(List.of(), "cannot read");

    HttpResponse<String> answer = debug.get("/rlconfig?format=json");

    assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
    JsonObject json = JsonParser.parseString(answer.body()).getAsJsonObject();
    assertThat(json.get("generation").getAsInt()).isEqualTo(1);
    assertThat(json.get("good").getAsBoolean()).isFalse();
    assertThat(json.get("last_error").getAsString()).isEqualTo("cannot read");
    assertThat(json.getAsJsonArray("rules")).hasSize(3);
    JsonObject rule = json.getAsJsonArray("rules").get(2).getAsJsonObject();
    assertThat(rule.get("path").getAsString()).isEqualTo("a");
    assertThat(rule.getAsJsonArray("limits").get(0).toString())
        .isEqualTo(
            "{\"requests_per_unit\":7,\"unit\":\"UNKNOWN\",\"window_ms\":10000,\"algorithm\":\"gcra\"}");
  }

  @Test
  void showsTheScopeOfARule() throws Exception {
    LoadResult global =
        load(
            """
            domain: foo
            descriptors:
              - key: a
                rate_limit: {unit: day, requests_per_unit: 7, scope: global}
              - key: b
                rate_limit: {unit: day, requests_per_unit: 7}
            """);
    policies.loaded(Objects.requireNonNull(global.book()), List.of(), 1_700_000_000_000L);
    assertThat(debug.get("/rlconfig").body())
        .contains("#   7 per day (fixed_window), leased over all regions in adaptive batches\n");
    String json = debug.get("/rlconfig?format=json").body();
    assertThat(
            JsonParser.parseString(json).getAsJsonObject().getAsJsonArray("rules").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .map(r -> r.get("scope").getAsString() + " " + r.get("tier").getAsString()))
        .containsExactly("global leased", "region strict");
  }

  @Test
  void showsHowALimitIsDivided() throws Exception {
    LoadResult shared =
        load(
            """
            domain: foo
            descriptors:
              - key: a
                rate_limit:
                  unit: day
                  requests_per_unit: 7000
                  fair_share: {tenant: org, weights: {acme: 2.5}, max_tenants: 10}
            """);
    policies.loaded(Objects.requireNonNull(shared.book()), List.of(), 1_700_000_000_000L);
    assertThat(debug.get("/rlconfig").body())
        .contains(
            "#   7000 per day (fixed_window), divided among the tenants of entry org (1 weight by"
                + " entry org, others 1)\n");
    JsonObject rule =
        JsonParser.parseString(debug.get("/rlconfig?format=json").body())
            .getAsJsonObject()
            .getAsJsonArray("rules")
            .get(0)
            .getAsJsonObject();
    assertThat(rule.get("fair_share").toString())
        .isEqualTo(
            "{\"tenant\":\"org\",\"default_weight\":1,\"weights\":{\"acme\":2.5},"
                + "\"max_tenants\":10,\"unlisted_share\":0.5}");
  }

  @Test
  void showsThatNoPoliciesWereLoaded() throws Exception {
    assertThat(debug.get("/rlconfig").body()).contains("# generation: 0\n", "# loaded: never\n");
  }

  @Test
  void listsItsPagesAndShowsCountersAndThreads() throws Exception {
    assertThat(debug.get("/").body().lines())
        .extracting(line -> line.split(" +", 2)[0])
        .containsExactly(
            "/concurrency", "/debug/threads", "/metrics", "/refusals", "/rlconfig", "/stats");
    assertThat(debug.get("/").body())
        .contains("/refusals       who is limited: the keys that were refused most");
    assertThat(debug.get("/refusals").body()).isEqualTo("# refusals\nd: user=bob: refusals=3\n");
    assertThat(debug.get("/stats").body()).isEqualTo("a: 1\nb: 2\n");
    assertThat(debug.get("/debug/threads").body()).contains("\"main\"", "    at ");
  }

  @Test
  void everyPageOfTheDebugPortIsDocumented() throws Exception {
    String documented = Files.readString(Path.of("..", "docs", "CONFIGURATION.md"));
    assertThat(debug.get("/").body().lines())
        .allSatisfy(line ->
            assertThat(line)
                .matches("/\\S+ +\\S.*")
                .satisfies(page ->
                    assertThat(documented).contains("| `" + page.split(" ", 2)[0] + "` |")));
  }

  @Test
  void stopClosesEveryConnectionDespiteAStuckAnswer() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    Semaphore never = new Semaphore(0);
    Route stuck =
        _ -> {
          asked.countDown();
          never.acquireUninterruptibly();
          return Reply.empty(200);
        };
    HttpListener listener =
        new HttpListener(
            "127.0.0.1", 0, HttpBounds.of(10, 0), TimeSource.system(), Map.of("/stuck", stuck));
    listener.start();
    try (Socket idle = new Socket(InetAddress.getLoopbackAddress(), listener.address().getPort());
        Socket busy = new Socket(InetAddress.getLoopbackAddress(), listener.address().getPort())) {
      write(busy, "GET /stuck HTTP/1.1\r\nHost: localhost\r\n\r\n");
      asked.await();

      listener.close();

      assertThat(never.hasQueuedThreads()).as("still stuck").isTrue();
      assertThat(idle.getInputStream().readAllBytes()).isEmpty();
      assertThat(busy.getInputStream().readAllBytes()).isEmpty();
    } finally {
      never.release();
    }
  }

  private Socket open() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), service.port());
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(UTF_8));
  }

  private static PolicyBook book() {
    LoadResult result = load(POLICIES);
    if (result.book() == null) {
      throw new AssertionError(result.problems());
    }
    return result.book();
  }

  private static LoadResult load(String yaml) {
    return new PolicyLoader(new LoadOptions(false))
        .load(List.of(new PolicySource("test.yaml", yaml)));
  }
}
