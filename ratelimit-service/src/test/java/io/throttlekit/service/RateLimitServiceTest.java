package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.LoadedConfig;
import io.throttlekit.service.loop.LoopThread;
import io.throttlekit.service.server.StartException;
import io.throttlekit.service.warmup.WarmUp;
import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RateLimitServiceTest {

  /** A sliding log, because a fixed window of a day could end during a test. */
  private static final String POLICIES =
      "domain: shop\ndescriptors: [{key: k, rate_limit: {unit: day, algorithm: sliding_log,"
          + " requests_per_unit: %d}}]\n";

  private static final String CALL =
      "{\"domain\": \"shop\", \"descriptors\": [{\"entries\": [{\"key\": \"k\", \"value\":"
          + " \"v\"}]}]}";
  private static final Pattern READY =
      Pattern.compile(
          "ready grpc=127\\.0\\.0\\.1:(\\d+) http=127\\.0\\.0\\.1:(\\d+)"
              + " debug=127\\.0\\.0\\.1:(\\d+)");

  @TempDir private Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<RateLimitService> services = new ArrayList<>();

  @AfterEach
  void stop() {
    services.forEach(RateLimitService::stop);
    http.close();
  }

  @Test
  void servesFromTheFirstGoodLoadAndLogsItsAddresses() throws Exception {
    write(1);
    RateLimitService service = started(Map.of());
    assertThat(service.healthy()).isTrue();
    assertThat(service.readyLine()).matches(READY);
    assertThat(get(service, 2, "/healthcheck").statusCode()).isEqualTo(200);
    assertThat(json(service).statusCode()).isEqualTo(200);
    assertThat(json(service).statusCode()).isEqualTo(429);
    assertThat(get(service, 3, "/rlconfig").body())
        .contains("shop.k: unit=DAY requests_per_unit=1");
  }

  @Test
  @SuppressWarnings("AddressSelection") // an address, and no name
  void addressesOfIpv6AreInBrackets() throws Exception {
    assumeThat(NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses))
        .as("IPv6") // not every machine has it
        .anyMatch(address -> address instanceof Inet6Address && address.isLoopbackAddress());
    write(1);
    int metrics;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("::1"))) {
      metrics = free.getLocalPort();
    }
    RateLimitService service =
        started(
            Map.of(
                "GRPC_HOST", "[::1]",
                "HOST", "[::1]",
                "DEBUG_HOST", "::1",
                "PROMETHEUS_ADDR", "[::1]:" + metrics,
                "THROTTLEKIT_SENSORS_FILTER_ENABLED", "true",
                "THROTTLEKIT_SENSORS_LISTEN", "[::1]:0"));
    assertThat(service.readyLine())
        .matches(
            "ready grpc=\\[::1]:\\d+ http=\\[::1]:\\d+ debug=\\[::1]:\\d+"
                + " sensors=\\[::1]:\\d+");
    URI page = URI.create("http://[::1]:" + metrics + "/metrics");
    assertThat(http.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body())
        .contains("throttlekit_");
  }

  @Test
  void aChangedFileIsAppliedWithoutARestartAndKeepsCounts() throws Exception {
    write(1);
    RateLimitService service = started(Map.of("THROTTLEKIT_POLICIES_POLL_INTERVAL", "20ms"));
    assertThat(json(service).statusCode()).isEqualTo(200);
    assertThat(json(service).statusCode()).isEqualTo(429);
    write(3);
    await().until(() -> get(service, 3, "/rlconfig").body().contains("requests_per_unit=3"));
    assertThat(json(service).statusCode()).isEqualTo(200);
    assertThat(json(service).statusCode()).isEqualTo(200);
    assertThat(json(service).statusCode()).isEqualTo(429);
  }

  @Test
  void allJsonRequestsAreCounted() throws Exception {
    write(1);
    RateLimitService service = started(Map.of());
    assertThat(json(service).statusCode()).isEqualTo(200);
    assertThat(get(service, 2, "/json").statusCode()).isEqualTo(400);
    assertThat(get(service, 3, "/stats").body())
        .contains("ratelimit_server.ShouldRateLimit.total_requests: 2\n")
        .contains("ratelimit.service.call.should_rate_limit.service_error: 1\n");
  }

  @Test
  void refusesToStartWithInvalidPolicies() throws IOException {
    Files.writeString(
        folder.resolve("p.yaml"), "domain: shop\ndescriptors: [{kee: a}, {key: 1.5}]\n");
    RateLimitService service = service(Map.of());
    assertThatThrownBy(service::start)
        .isInstanceOf(StartException.class)
        .hasMessage("no policies: 2 errors");
    assertThat(service.stop()).isFalse();
  }

  @Test
  void asADropInStartsWithoutPoliciesAndServesOnceTheyAreValid() throws Exception {
    Path config = Files.createDirectories(folder.resolve("rl/config"));
    Path file = Files.writeString(config.resolve("a.yaml"), "domain: ''\n");
    Map<String, String> environment = base();
    environment.remove("THROTTLEKIT_POLICIES_PATHS");
    environment.put("RUNTIME_ROOT", folder.toString());
    environment.put("RUNTIME_SUBDIRECTORY", "rl");
    environment.put("THROTTLEKIT_POLICIES_POLL_INTERVAL", "20ms");
    RateLimitService service = start(environment);
    assertThat(json(service).statusCode()).isEqualTo(400);
    Files.writeString(file, POLICIES.formatted(1));
    await().until(() -> json(service).statusCode() == 429);
  }

  @Test
  void healthWaitsForPoliciesIfConfigured() throws Exception {
    RateLimitService service =
        started(
            Map.of(
                "HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", "true",
                "THROTTLEKIT_POLICIES_REQUIRE_AT_START", "false",
                "THROTTLEKIT_POLICIES_POLL_INTERVAL", "20ms"));
    assertThat(get(service, 2, "/healthcheck").statusCode()).isEqualTo(500);
    write(1);
    await().until(() -> get(service, 2, "/healthcheck").statusCode() == 200);
  }

  @Test
  void theWarmUpChangesNoCounterAndNoMetric() throws Exception {
    write(1);
    RateLimitService service =
        started(
            Map.of(
                "THROTTLEKIT_WARM_UP_REQUESTS", "500",
                "THROTTLEKIT_EXT_AUTHZ_DOMAIN", "d",
                "THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS", "[{entries: [{key: user, header: x-user}]}]"));
    assertThat(get(service, 3, "/stats").body()).doesNotContain("warm-up");
    assertThat(get(service, 3, "/metrics").body())
        .doesNotContain("warm-up")
        .doesNotContainPattern("ratelimit_service_total_requests\\S* [1-9]")
        .doesNotContainPattern("throttlekit_ext_authz\\S* [1-9]")
        .contains("throttlekit_concurrency_leases_total 0.0");
    assertThat(json(service).statusCode()).isEqualTo(200);
  }

  @Test
  void failsToStartOnAnAddressInUse() throws IOException {
    write(1);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      Map<String, String> listeners =
          Map.of(
              "gRPC", "GRPC_PORT",
              "http", "PORT",
              "debug", "DEBUG_PORT",
              "metrics", "PROMETHEUS_ADDR");
      Map<String, String> settings =
          Map.of(
              "gRPC", "grpc.host, grpc.port",
              "http", "http.port",
              "debug", "debug.port",
              "metrics", "metrics.address");
      listeners.forEach((listener, variable) -> {
        String value = listener.equals("metrics") ? "127.0.0.1:" + port : port;
        RateLimitService service = service(Map.of(variable, value));
        assertThatThrownBy(service::start)
            .isInstanceOf(StartException.class)
            .hasMessage(
                "cannot listen for "
                    + listener
                    + " on 127.0.0.1:"
                    + port
                    + ": Address already in use (set by "
                    + settings.get(listener)
                    + ")");
        assertThat(service.stop()).isFalse();
      });
    }
  }

  @Test
  void failsToStartOnAnUnknownHost() throws IOException {
    write(1);
    for (String variable : List.of("GRPC_HOST", "HOST", "DEBUG_HOST")) {
      assertThatThrownBy(service(Map.of(variable, "nobody.invalid"))::start)
          .isInstanceOf(StartException.class)
          .hasMessageMatching(
              "cannot listen for \\w+ on nobody\\.invalid:0: unknown host \\(set by .*host.*\\)");
    }
  }

  @ParameterizedTest
  @MethodSource("failures")
  void aFailureAfterListeningStopsEverythingAndLeavesNothingToStop(Throwable failure)
      throws IOException {
    write(1);
    try (ReservedPort grpc = ReservedPort.take();
        ReservedPort http = ReservedPort.take()) {
      stopsEverythingAfter(failure, grpc.number(), http.number());
    }
  }

  private void stopsEverythingAfter(Throwable failure, int grpc, int http) {
    Map<String, String> environment =
        with(
            Map.of(
                "GRPC_PORT",
                Integer.toString(grpc),
                "PORT",
                Integer.toString(http),
                "THROTTLEKIT_POLICIES_POLL_INTERVAL",
                "10ms",
                "THROTTLEKIT_WARM_UP_REQUESTS",
                "10"));
    AtomicInteger looks = new AtomicInteger();
    RateLimitService service = make(environment, new FailingTime(failure, looks));
    assertThatThrownBy(service::start)
        .satisfiesAnyOf(
            e -> assertThat(e).isInstanceOf(StartException.class).hasMessageContaining("no time"),
            e -> assertThat(e).isSameAs(failure));
    for (int port : List.of(grpc, http)) {
      assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
          .isInstanceOf(ConnectException.class);
    }
    AtomicInteger before = new AtomicInteger();
    await()
        .during(Duration.ofMillis(200))
        .until(() -> before.getAndSet(looks.get()) == looks.get()); // polling stopped
    assertThat(service.stop()).isFalse(); // the process exits with the failure's code
  }

  static List<Throwable> failures() {
    return List.of(new IllegalStateException("no time"), new LinkageError("no time"));
  }

  /**
   * A clock that fails in the warm-up and counts the reads of the policies; other callers get the
   * time.
   */
  private record FailingTime(Throwable failure, AtomicInteger looks) implements TimeSource {
    @Override
    public long wallMillis() {
      looks.incrementAndGet();
      return TimeSource.system().wallMillis();
    }

    @Override
    public long monotonicNanos() {
      if (Thread.currentThread() instanceof LoopThread || !warmsUp()) {
        return TimeSource.system().monotonicNanos();
      }
      if (failure instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) failure;
    }

    private static boolean warmsUp() {
      String warmUp = WarmUp.class.getPackageName();
      return StackWalker.getInstance()
          .walk(frames -> frames.anyMatch(frame -> frame.getClassName().startsWith(warmUp)));
    }
  }

  @Test
  void metricsHaveASeparateListenerIfConfigured() throws Exception {
    write(1);
    try (ReservedPort port = ReservedPort.take()) {
      String address = "127.0.0.1:" + port.number();
      RateLimitService service =
          started(Map.of("PROMETHEUS_ADDR", address, "PROMETHEUS_PATH", "/m"));
      assertThat(service.healthy()).isTrue();
      HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + "/m")).build();
      assertThat(http.send(request, BodyHandlers.ofString()).body()).contains("ratelimit_service");
    }
  }

  @Test
  void servesNothingAfterStop() throws Exception {
    write(1);
    RateLimitService service = started(Map.of());
    int port = port(service, 2);
    assertThat(service.stop()).isTrue();
    assertThat(service.healthy()).isFalse();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/healthcheck")).build();
    assertThatThrownBy(() -> http.send(request, BodyHandlers.ofString()))
        .isInstanceOf(IOException.class);
  }

  private void write(long limit) throws IOException {
    Files.writeString(folder.resolve("p.yaml"), POLICIES.formatted(limit));
  }

  private Map<String, String> base() {
    Map<String, String> environment = LoopbackService.environment(folder);
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    return environment;
  }

  private Map<String, String> with(Map<String, String> more) {
    Map<String, String> environment = base();
    environment.put("THROTTLEKIT_HTTP_JSON", "true");
    environment.putAll(more);
    return environment;
  }

  private static LoadedConfig load(Map<String, String> environment) {
    LoadedConfig loaded = new ConfigLoader(environment).load(Map.of());
    assertThat(loaded.errors()).isEmpty();
    return loaded;
  }

  private RateLimitService service(Map<String, String> more) {
    return make(with(more));
  }

  private RateLimitService started(Map<String, String> more) {
    return start(with(more));
  }

  private RateLimitService start(Map<String, String> environment) {
    RateLimitService service = make(environment);
    assertThat(service.start()).isTrue();
    return service;
  }

  private RateLimitService make(Map<String, String> environment) {
    return make(environment, TimeSource.system());
  }

  private RateLimitService make(Map<String, String> environment, TimeSource time) {
    RateLimitService service =
        new RateLimitService(Objects.requireNonNull(load(environment).config()), time);
    services.add(service);
    return service;
  }

  private HttpResponse<String> json(RateLimitService service) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port(service, 2) + "/json"))
            .POST(BodyPublishers.ofString(CALL))
            .build(),
        BodyHandlers.ofString());
  }

  private HttpResponse<String> get(RateLimitService service, int group, String path)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + port(service, group) + path);
    return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
  }

  private static int port(RateLimitService service, int group) {
    Matcher ready = READY.matcher(service.readyLine());
    assertThat(ready.matches()).isTrue();
    return Integer.parseInt(Objects.requireNonNull(ready.group(group)));
  }
}
