package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.extension.v3.ExtensionConfigDiscoveryServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.EnvoyWiring;
import io.throttlekit.envoy.filter.FilterActions;
import io.throttlekit.envoy.filter.FilterText;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.Options;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a real Envoy whose limits come from the policies alone. */
@RealEnvoy
class EnvoyFilterTest {
  private static final Pattern PORTS = Pattern.compile("grpc=[^ ]*:(\\d+).* sensors=[^ ]*:(\\d+)");
  private static final Pattern HTTP = Pattern.compile("http=[^ ]*:(\\d+)");

  private static final String ROUTES =
      """
      domain: shop
      descriptors:
        - key: route
          value: login
          descriptors:
            - {key: user, rate_limit: {requests_per_unit: 2, every: 365000d}}
        - key: route
          value: search
          rate_limit: {requests_per_unit: 1, every: 365000d}
        - {key: backend, value: upstream, concurrency: {min: 3, max: 3, initial: 3, lease: {ttl: 1h}}}
        - {key: other, value: name, concurrency: {gate: envoy, cluster: upstream}}
      """;

  @TempDir Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private @Nullable Upstream upstream;
  private @Nullable RateLimitService service;
  private @Nullable EnvoyProcess envoy;
  private @Nullable ManagedChannel hostile;
  private final AtomicLong flood = new AtomicLong();

  @BeforeEach
  void startUpstream() throws IOException {
    upstream = Upstream.start();
  }

  @AfterEach
  void stop() {
    if (hostile != null) {
      hostile.shutdownNow();
    }
    if (envoy != null) {
      envoy.close();
    }
    if (service != null) {
      service.stop();
    }
    Objects.requireNonNull(upstream).close();
  }

  @Test
  void envoyLimitsWithTheBootstrapOfTheCommand() throws Exception {
    String text = new FilterText(List.of(actions(ROUTES))).bootstrap();
    startEnvoy(ports(text, startService(ROUTES, Map.of())));
    assertThat(status("/login", "x-user", "ann")).isEqualTo(200);
    assertThat(status("/login", "x-user", "ann")).isEqualTo(200);
    assertThat(status("/login", "x-user", "ann")).isEqualTo(429);
    assertThat(status("/login", "x-user", "bob")).isEqualTo(200);
    assertThat(status("/search", "x-user", "ann")).isEqualTo(200);
    assertThat(status("/search", "x-user", "bob")).isEqualTo(429);
    // There are three permits, so that the stream-done calls have released others.
    for (int i = 0; i < 10; i++) {
      await().until(() -> status("/", "x-user", "ann") == 200);
    }
  }

  @Test
  void envoyReceivesTheFilterAndItsReloads() throws Exception {
    assertFollowsPolicies(0);
    assertThat(metrics())
        .contains("throttlekit_filter_streams 1.0", "throttlekit_filter_rejected_total 0.0")
        .containsPattern("throttlekit_filter_sent_total [2-9]");
  }

  @Test
  void envoyReceivesTheFilterAndItsReloadsDuringAFlood() throws Exception {
    assertFollowsPolicies(50);
    await().untilAsserted(() -> assertThat(metrics()).contains("throttlekit_filter_streams 51.0"));
    await().until(() -> flood.get() > 0);
  }

  /** Asserts it while clients on so many streams request other filters after each answer. */
  private void assertFollowsPolicies(int hostileStreams) throws Exception {
    String policy =
        EnvoyExample.FILTER_FROM_POLICIES.policy().replace("unit: minute", Mesh.ENDLESS);
    Matcher ports = startService(policy, Map.of("THROTTLEKIT_SENSORS_FILTER_ENABLED", "true"));
    EnvoyWiring wiring =
        new EnvoyWiring(
            0,
            0,
            Integer.parseInt(ports.group(1)),
            Integer.parseInt(ports.group(2)),
            Objects.requireNonNull(upstream).port(),
            Duration.ofSeconds(60),
            Path.of("/dev/null"));
    flood(wiring.sensorsPort(), hostileStreams);
    startEnvoy(
        EnvoyExample.FILTER_FROM_POLICIES
            .bootstrap(wiring)
            .replace("initial_fetch_timeout: 1s", "initial_fetch_timeout: 60s"));
    for (int i = 0; i < 5; i++) {
      assertThat(status("/", "x-user-id", "ann")).isEqualTo(200);
    }
    assertThat(status("/", "x-user-id", "ann")).isEqualTo(429);
    assertThat(status("/", "x-user", "ann")).as("not the header of the policy").isEqualTo(200);

    write(policy.replace("x-user-id", "x-account"));
    await().until(() -> status("/", "x-user-id", "ann") == 200);
    assertThat(status("/", "x-account", "ann")).as("the same counter").isEqualTo(429);
  }

  private void flood(int sensorsPort, int streams) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", sensorsPort).usePlaintext().build();
    hostile = channel;
    for (int i = 0; i < streams; i++) {
      AtomicReference<StreamObserver<DiscoveryRequest>> requests = new AtomicReference<>();
      requests.set(
          ExtensionConfigDiscoveryServiceGrpc.newStub(channel)
              .streamExtensionConfigs(
                  new StreamObserver<>() {
                    @Override
                    public void onNext(DiscoveryResponse response) {
                      requests.get().onNext(invented(flood.incrementAndGet()));
                    }

                    @Override
                    public void onError(Throwable cause) {}

                    @Override
                    public void onCompleted() {}
                  }));
      requests.get().onNext(invented(0));
    }
  }

  private static DiscoveryRequest invented(long number) {
    DiscoveryRequest.Builder request =
        DiscoveryRequest.newBuilder().setNode(Node.newBuilder().setId("hostile"));
    for (int i = 0; i < 64; i++) {
      request.addResourceNames("throttlekit/" + number + "-" + i);
    }
    return request.build();
  }

  private String metrics() throws Exception {
    Matcher http = HTTP.matcher(Objects.requireNonNull(service).readyLine());
    assertThat(http.find()).isTrue();
    URI page = URI.create("http://127.0.0.1:" + http.group(1) + "/metrics");
    return client.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body();
  }

  private static FilterActions actions(String policy) {
    var loaded =
        new PolicyLoader(new LoadOptions(true)).load(List.of(new PolicySource("p.yaml", policy)));
    PolicyBook book = Objects.requireNonNull(loaded.book(), () -> loaded.problems().toString());
    return FilterActions.of(book, book.domains().getFirst(), Map.of());
  }

  /** Starts the service in this process; returns its ports for gRPC and sensors. */
  private Matcher startService(String policy, Map<String, String> more) throws IOException {
    write(policy);
    Map<String, String> environment = new HashMap<>(more);
    environment.put("THROTTLEKIT_GRPC_HOST", "127.0.0.1");
    environment.put("THROTTLEKIT_GRPC_PORT", "0");
    environment.put("THROTTLEKIT_HTTP_PORT", "0");
    environment.put("THROTTLEKIT_DEBUG_PORT", "0");
    environment.put("THROTTLEKIT_SENSORS_LISTEN", "127.0.0.1:0");
    environment.put("THROTTLEKIT_SENSORS_FILTER_TIMEOUT", "60s"); // after it Envoy admits
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    environment.put("THROTTLEKIT_POLICIES_POLL_INTERVAL", "50ms");
    Map<String, List<String>> flags =
        Options.of("--policies", folder.resolve("policies").toString());
    RateLimitService started =
        new RateLimitService(
            Objects.requireNonNull(new ConfigLoader(environment).load(flags).config()),
            TimeSource.system());
    assertThat(started.start()).isTrue();
    service = started;
    Matcher ports = PORTS.matcher(started.readyLine());
    assertThat(ports.find()).as(started.readyLine()).isTrue();
    return ports;
  }

  private void write(String policy) throws IOException {
    Path file = Files.createDirectories(folder.resolve("policies")).resolve("policy.yaml");
    Path next = Files.writeString(folder.resolve("next.yaml"), policy);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private String ports(String bootstrap, Matcher service) {
    return EnvoyExample.patient(bootstrap, Duration.ofSeconds(60))
        .replace("port_value: 10000}", "port_value: 0}")
        .replace("port_value: 9901}", "port_value: 0}")
        .replace("port_value: 8081}", "port_value: " + service.group(1) + "}")
        .replace("port_value: 18001}", "port_value: " + service.group(2) + "}")
        .replace(
            "port_value: 8000}", "port_value: " + Objects.requireNonNull(upstream).port() + "}");
  }

  private void startEnvoy(String bootstrap) throws IOException {
    envoy = EnvoyProcess.start(EnvoyProgram.path(), bootstrap, folder);
  }

  private int status(String path, String header, String value) throws IOException {
    int port = Objects.requireNonNull(envoy).port();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header(header, value)
            .timeout(Duration.ofMinutes(2))
            .build();
    try {
      return client.send(request, BodyHandlers.ofString()).statusCode();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
