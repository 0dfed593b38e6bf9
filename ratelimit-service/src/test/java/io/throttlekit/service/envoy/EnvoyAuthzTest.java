package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits by external authorization: the example, and the same with the filters swapped. */
@MeshTest
class EnvoyAuthzTest {
  private static final String QUEUED =
      "throttlekit_concurrency_queued{domain=\"ext-authz\",rule=\"queue\"}";

  /** Besides the example's: one limit with a queue, and one that counts stream-done calls. */
  private static final String MORE_RULES =
      """
        - key: queue
          concurrency: {min: 1, max: 1, queue: {}}
        - key: finished
          rate_limit: {requests_per_unit: 1000000, every: 365000d}
      """;

  private static final String COUNT_FINISHED =
      """
      rate_limits:
        - apply_on_stream_done: true
          actions:
            - generic_key: {descriptor_key: finished, descriptor_value: "yes"}
      """;
  private static final Changes CHANGES =
      new Changes(
          policy -> policy.replace("min: 4, max: 100", "min: 2, max: 2") + MORE_RULES,
          EnvoyAuthzTest::countingFinished,
          Map.of(
              "THROTTLEKIT_EXT_AUTHZ_DOMAIN", "ext-authz",
              "THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS",
                  "[{entries: [{key: user, header: x-user, default: nobody}]},"
                      + " {entries: [{key: upstream, context: upstream}]},"
                      + " {entries: [{key: queue, header: x-queue}]}]",
              "THROTTLEKIT_RESPONSE_STRUCTURED_HEADERS", "true",
              "THROTTLEKIT_RESPONSE_DYNAMIC_METADATA", "true"));

  @TempDir static Path folder;

  @SuppressWarnings("NullAway.Init") // by start()
  private static Mesh mesh;

  @BeforeAll
  static void start() throws IOException {
    mesh = Mesh.start(folder, EnvoyExample.EXT_AUTHZ, CHANGES);
  }

  @AfterAll
  static void stop() {
    mesh.close();
  }

  @BeforeEach
  void nothingIsInFlight() {
    awaitMetric(mesh, "throttlekit_concurrency_live_leases", 0);
  }

  @Test
  void aRuleDeniesWithItsOwnStatusHeadersAndBody() throws IOException {
    for (int left = 4; left >= 0; left--) {
      HttpResponse<String> admitted = done("x-user", "anna");
      assertThat(admitted.statusCode()).isEqualTo(200);
      assertThat(header(admitted, "ratelimit")).contains("\"user\";r=" + left + ";t=");
    }
    HttpResponse<String> refused = done("x-user", "anna");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body()).isEqualTo("{\"error\": \"too many requests\"}");
    assertThat(header(refused, "content-type")).isEqualTo("application/json");
    assertThat(Long.parseLong(header(refused, "retry-after"))).isPositive();
    assertThat(header(refused, "ratelimit")).contains("\"user\";r=0;t=");
    assertThat(done("x-user", "bert").statusCode()).isEqualTo(200);
  }

  @Test
  void aMissingHeaderIsCountedUnderItsDefault() throws IOException {
    assertThat(admitted(9)).isEqualTo(5);
    assertThat(admitted(1, "x-user", "nobody")).isZero();
    assertThat(mesh.status("/healthz")).as("no Check").isEqualTo(200);
  }

  @Test
  void leasesAreReleasedWhenTheStreamIsDone() throws IOException {
    long before = metric(mesh, "throttlekit_concurrency_released_total{by=\"stream_done\"}");
    for (int i = 1; i <= 4; i++) {
      assertThat(mesh.status("/", "x-user", "carl")).isEqualTo(200);
      awaitMetric(mesh, "throttlekit_concurrency_released_total{by=\"stream_done\"}", before + i);
    }
    awaitMetric(mesh, "throttlekit_concurrency_live_leases", 0);
    assertThat(metric(mesh, "throttlekit_concurrency_stale_releases_total")).isZero();
  }

  @Test
  void aLimitRefusesWith503UntilAClientLeaves() throws IOException {
    try (Socket _ = sent(mesh, "/?hold", "x-user: dora")) {
      try (Socket _ = sent(mesh, "/?hold", "x-user: dora")) {
        awaitMetric(mesh, "throttlekit_concurrency_live_leases", 2);
        HttpResponse<String> refused = mesh.get("/", "x-user", "emil");
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(header(refused, "x-refused-by")).isEqualTo("concurrency_limit");
        assertThat(refused.body()).isEqualTo("the upstream is at its limit");
        assertThat(Long.parseLong(header(refused, "retry-after"))).isBetween(1L, 2L);

        HttpResponse<String> grpc =
            mesh.get("/", "x-user", "emil", "content-type", "application/grpc");
        assertThat(grpc.statusCode()).isEqualTo(200);
        assertThat(header(grpc, "grpc-status")).isEqualTo("14");
        assertThat(header(grpc, "grpc-message")).isEqualTo("the upstream is at its limit");
      }
      // the permit is released just after its lease is no longer counted
      await().until(() -> mesh.status("/", "x-user", "emil") == 200);
    }
  }

  @Test
  void aClientThatDisconnectsDuringTheCheckHoldsNoLease() throws IOException {
    long before = metric(mesh, "throttlekit_concurrency_leases_total");
    try (Socket _ = sent(mesh, "/?hold", "x-queue: a", "x-user: ivan")) {
      awaitMetric(mesh, "throttlekit_concurrency_live_leases", 1);
      try (Socket _ = sent(mesh, "/", "x-queue: a", "x-user: ivan")) {
        await().until(() -> metric(mesh, QUEUED) == 1);
      }
      await().until(() -> metric(mesh, QUEUED) == 0);
    }
    awaitMetric(mesh, "throttlekit_concurrency_live_leases", 0);
    assertThat(metric(mesh, "throttlekit_concurrency_leases_total")).isEqualTo(before + 1);
    assertThat(mesh.status("/", "x-queue", "a", "x-user", "fred")).isEqualTo(200);
  }

  @Test
  void aRefusalBeforeTheRateLimitFilterEndsNoStream() throws IOException {
    long before = finished(mesh);
    assertThat(admitted(8, "x-user", "gina")).isEqualTo(5);
    assertThat(admitted(1, "x-user", "hans")).as("the last of them").isEqualTo(1);
    await().until(() -> finished(mesh) >= before + 6);
    assertThat(finished(mesh)).isEqualTo(before + 6);
  }

  /** Also Envoy's default timeout of a Check, and its answer without the service. */
  @Test
  void aRefusalBehindTheRateLimitFilterEndsAStream(@TempDir Path other) throws IOException {
    UnaryOperator<String> bootstrap = text -> withoutCheckTimeout(swapped(countingFinished(text)));
    UnaryOperator<String> policy =
        text -> CHANGES.policy().apply(text).replace("max: 2}", "max: 2, lease: {ttl: 10s}}");
    Changes changes = new Changes(policy, bootstrap, CHANGES.environment());
    try (Mesh swapped = Mesh.start(other, EnvoyExample.EXT_AUTHZ, changes)) {
      AtomicInteger users = new AtomicInteger(); // a Check that timed out in Envoy was charged too
      await()
          .untilAsserted(() -> {
            HttpResponse<String> first =
                swapped.get("/", "x-user", "warm" + users.getAndIncrement());
            assertThat(first.statusCode()).as("%s", first.headers().map()).isEqualTo(200);
          });
      await().until(() -> finished(swapped) == users.get());
      long before = users.get();
      int refused = 0;
      for (int i = 0; i < 8; i++) {
        refused += swapped.status("/", "x-user", "gina") == 200 ? 0 : 1;
      }
      assertThat(refused).isGreaterThanOrEqualTo(3);
      await().until(() -> finished(swapped) == before + 8);
      assertThat(metric(swapped, "throttlekit_concurrency_stale_releases_total"))
          .as("a denial names no lease, so its stream releases none")
          .isZero();

      // Only Checks that timed out in Envoy are left to the ttl: a new service is slow at first.
      awaitMetric(swapped, "throttlekit_concurrency_live_leases", 0);
      assertThat(metric(swapped, "throttlekit_concurrency_released_total{by=\"expired\"}"))
          .isLessThan(users.get() + 1);
      assertThat(metric(swapped, "throttlekit_concurrency_released_total{by=\"stream_done\"}"))
          .isGreaterThanOrEqualTo(8 - refused);
      try (Socket _ = sent(swapped, "/?hold", "x-queue: a", "x-user: holds")) {
        awaitMetric(swapped, "throttlekit_concurrency_live_leases", 1);
        await()
            .untilAsserted(() -> {
              HttpResponse<String> waited = swapped.get("/", "x-queue", "a", "x-user", "waits");
              assertThat(waited.statusCode()).isEqualTo(503);
              assertThat(waited.headers().firstValue("ratelimit")).as("by us").isPresent();
            });
      }

      swapped.stopService();
      HttpResponse<String> unasked = swapped.get("/", "x-user", "gina");
      assertThat(unasked.statusCode()).isEqualTo(503);
      assertThat(unasked.headers().firstValue("ratelimit")).isEmpty();
    }
  }

  /** Sends a request, and waits until its stream has ended for the service too. */
  private static HttpResponse<String> done(String... headers) throws IOException {
    HttpResponse<String> answer = mesh.get("/", headers);
    awaitMetric(mesh, "throttlekit_concurrency_live_leases", 0);
    return answer;
  }

  /** Returns how many of the sequential requests got 200; the others must get 429. */
  private static int admitted(int requests, String... headers) throws IOException {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      int status = done(headers).statusCode();
      assertThat(status).isIn(200, 429);
      admitted += status == 200 ? 1 : 0;
    }
    return admitted;
  }

  private static String countingFinished(String bootstrap) {
    String indent = " ".repeat(30);
    String list = COUNT_FINISHED.indent(30);
    assertThat(bootstrap).containsOnlyOnce(indent + "rate_limits:\n");
    return bootstrap.replace(indent + "rate_limits:\n", list);
  }

  private static String swapped(String bootstrap) {
    String name = " {18}- name: envoy\\.filters\\.http\\.";
    Pattern filters =
        Pattern.compile(
            "(?s)(%sext_authz\n.*?)(%sratelimit\n.*?)(%srouter\n)".formatted(name, name, name));
    Matcher found = filters.matcher(bootstrap);
    assertThat(found.find()).isTrue();
    return found.replaceFirst("$2$1$3");
  }

  private static String withoutCheckTimeout(String bootstrap) {
    String without = bootstrap.replaceFirst(" timeout: [0-9.]+s # Envoy's default is 200 ms", "");
    assertThat(without).isNotEqualTo(bootstrap);
    return without;
  }

  /** Sends a request on a connection of its own, whose response is not read. */
  private static Socket sent(Mesh mesh, String path, String... headers) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), mesh.envoy().port());
    String request =
        "GET " + path + " HTTP/1.1\r\nhost: mesh\r\n" + String.join("\r\n", headers) + "\r\n\r\n";
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static String header(HttpResponse<String> answer, String name) {
    assertThat(answer.headers().allValues(name)).as(name).hasSize(1);
    return answer.headers().allValues(name).getFirst();
  }

  /** Returns how many stream ends the rate limit filter has reported. */
  private static long finished(Mesh mesh) throws IOException {
    String line = "ratelimit.service.rate_limit.ext-authz.finished.total_hits: ";
    return number(mesh.stats(), "(?m)^" + Pattern.quote(line));
  }

  private static void awaitMetric(Mesh mesh, String name, long value) {
    await().until(() -> metric(mesh, name) == value);
  }

  /** Returns the value of a metric, by its name or its beginning and labels. */
  private static long metric(Mesh mesh, String name) throws IOException {
    return number(mesh.metrics(), "(?m)^" + Pattern.quote(name) + "(?:\\{[^}]*})? ");
  }

  private static long number(String page, String before) {
    Matcher line = Pattern.compile(before + "([0-9.E]+)$").matcher(page);
    return line.find() ? (long) Double.parseDouble(line.group(1)) : 0;
  }
}
