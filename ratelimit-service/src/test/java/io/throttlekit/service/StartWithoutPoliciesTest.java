package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.LoadedConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Readiness of a process that starts where envoyproxy/ratelimit would, and finds no policies. */
class StartWithoutPoliciesTest {
  private static final String POLICY =
      "domain: shop\ndescriptors: [{key: k, rate_limit: {unit: day, requests_per_unit: 1}}]\n";
  private static final Pattern PORTS =
      Pattern.compile("ready grpc=127\\.0\\.0\\.1:(\\d+) http=127\\.0\\.0\\.1:(\\d+) .*");

  @TempDir private Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<RateLimitService> services = new ArrayList<>();

  @AfterEach
  void stop() {
    services.forEach(RateLimitService::stop);
    http.close();
  }

  /** A reason why nothing is loaded. */
  enum Cause {
    /** The folder does not exist. */
    NO_FOLDER {
      @Override
      void in(Path config) {}
    },
    /** A policy file has a mistake. */
    MISTAKE {
      @Override
      void in(Path config) throws IOException {
        write(config, "domain: ''\n".getBytes(StandardCharsets.UTF_8));
      }
    },
    /** A policy file is no text. */
    NO_TEXT {
      @Override
      void in(Path config) throws IOException {
        write(config, new byte[] {(byte) 0xff, 0});
      }
    },
    /** One of two files cannot be read; the other one is valid. */
    UNREADABLE {
      @Override
      void in(Path config) throws IOException {
        write(config, POLICY.getBytes(StandardCharsets.UTF_8));
        Files.createSymbolicLink(config.resolve("b.yaml"), config.resolve("missing"));
      }
    };

    abstract void in(Path config) throws IOException;

    private static void write(Path config, byte[] content) throws IOException {
      Files.write(Files.createDirectories(config).resolve("a.yaml"), content);
    }
  }

  @ParameterizedTest
  @EnumSource
  void isNotReadyUntilPoliciesWereLoaded(Cause cause) throws Exception {
    Path config = folder.resolve("rl/config");
    cause.in(config);
    RateLimitService service = started(Map.of());
    CountDownLatch served = new CountDownLatch(1);
    Thread.ofVirtual()
        .start(() -> {
          try {
            service.awaitServing();
            served.countDown();
          } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
          }
        });

    assertThat(get(service, "/startupz").statusCode()).isEqualTo(200);
    assertThat(get(service, "/readyz").statusCode()).isEqualTo(503);
    assertThat(get(service, "/readyz").body()).isEqualTo("no policies\n");
    assertThat(get(service, "/healthcheck").statusCode()).isEqualTo(500);
    assertThat(grpcHealth(service)).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(get(service, "/metrics").body()).contains("policy_loaded 0.0\n");
    assertThat(served.getCount()).as("no line that it is ready").isOne();

    Files.createDirectories(config);
    Files.deleteIfExists(config.resolve("b.yaml"));
    Files.writeString(config.resolve("a.yaml"), POLICY);
    served.await();
    assertThat(get(service, "/readyz").statusCode()).isEqualTo(200);
    assertThat(grpcHealth(service)).isEqualTo(ServingStatus.SERVING);

    Files.writeString(config.resolve("a.yaml"), "domain: ''\n");
    await().until(() -> get(service, "/metrics").body().contains("policy_last_load_ok 0.0\n"));
    assertThat(get(service, "/readyz").statusCode()).as("with the policies before").isEqualTo(200);
  }

  @ParameterizedTest
  @EnumSource
  void isReadyAtOnceIfConfigured(Cause cause) throws Exception {
    cause.in(folder.resolve("rl/config"));
    assertThat(started(Map.of("THROTTLEKIT_HEALTH_READY_WITHOUT_POLICIES", "true")).healthy())
        .isTrue();
    assertThat(started(Map.of("FORCE_START_WITHOUT_INITIAL_CONFIG", "true")).healthy()).isTrue();
    Map<String, String> both =
        Map.of(
            "FORCE_START_WITHOUT_INITIAL_CONFIG", "true",
            "HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", "true");
    assertThat(started(both).healthy()).isFalse();
  }

  @Test
  void anEmptyFolderLimitsNothingAndIsReady() throws Exception {
    Files.createDirectories(folder.resolve("rl/config"));
    assertThat(started(Map.of()).healthy()).isTrue();
    assertThat(started(Map.of("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", "true")).healthy())
        .isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void isReadyWithThePoliciesOfAnEarlierProcess(Cause cause) throws Exception {
    Path config = folder.resolve("rl/config");
    Path state = Files.createDirectory(folder.resolve("state"));
    // With our own defaults, where a start without policies fails, and with those of that program.
    for (Map<String, String> defaults : List.of(Map.<String, String>of(), own(config))) {
      Map<String, String> environment = new HashMap<>(defaults);
      environment.put("THROTTLEKIT_POLICIES_LAST_GOOD_FOLDER", state.toString());
      Files.createDirectories(config);
      Files.writeString(config.resolve("a.yaml"), POLICY);
      started(environment).stop();
      Files.delete(config.resolve("a.yaml"));
      Files.delete(config);
      Files.delete(config.getParent());
      cause.in(config);
      RateLimitService service = started(environment);
      assertThat(service.healthy()).isTrue();
      assertThat(get(service, "/metrics").body())
          .contains("policy_last_load_ok 0.0\n")
          .contains("policy_loaded 1.0\n");
      service.stop();
      Files.deleteIfExists(config.resolve("b.yaml"));
    }
  }

  private static Map<String, String> own(Path config) {
    return Map.of("RUNTIME_ROOT", "", "THROTTLEKIT_POLICIES_PATHS", config.toString());
  }

  private RateLimitService started(Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(LoopbackService.environment(folder));
    environment.remove("THROTTLEKIT_POLICIES_PATHS");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    environment.put("THROTTLEKIT_POLICIES_POLL_INTERVAL", "10ms");
    environment.put("RUNTIME_ROOT", folder.toString());
    environment.put("RUNTIME_SUBDIRECTORY", "rl");
    environment.putAll(more);
    LoadedConfig loaded = new ConfigLoader(environment).load(Map.of());
    assertThat(loaded.errors()).isEmpty();
    RateLimitService service =
        new RateLimitService(Objects.requireNonNull(loaded.config()), TimeSource.system());
    services.add(service);
    assertThat(service.start()).isTrue();
    return service;
  }

  private HttpResponse<String> get(RateLimitService service, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + port(service, 2) + path);
    return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
  }

  private static ServingStatus grpcHealth(RateLimitService service) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port(service, 1)).usePlaintext().build();
    try {
      return HealthGrpc.newBlockingStub(channel)
          .check(HealthCheckRequest.newBuilder().setService("ratelimit").build())
          .getStatus();
    } finally {
      channel.shutdownNow();
    }
  }

  private static int port(RateLimitService service, int group) {
    Matcher ports = PORTS.matcher(service.readyLine());
    assertThat(ports.matches()).isTrue();
    return Integer.parseInt(ports.group(group));
  }
}
