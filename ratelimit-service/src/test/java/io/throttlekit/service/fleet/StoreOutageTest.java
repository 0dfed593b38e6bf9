package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.redis.RealRedis;
import io.throttlekit.redis.RedisProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The process as callers and operators see it while its Redis comes and goes. */
@RealRedis
@Timeout(120)
class StoreOutageTest {
  private static final String POLICIES =
      """
      domain: shop
      descriptors:
        - {key: error, rate_limit: {requests_per_unit: 100, every: 365000d}}
        - {key: deny, rate_limit: {requests_per_unit: 100, every: 365000d, on_outage: deny}}
        - {key: allow, rate_limit: {requests_per_unit: 1, every: 365000d, on_outage: allow}}
        - {key: local, rate_limit: {requests_per_unit: 10, every: 365000d, on_outage: local}}
        - key: leased
          rate_limit: {requests_per_unit: 5, every: 365000d, tier: leased, lease: {size: 5}}
      """;

  @TempDir private Path folder;

  private RedisProcess redis;
  private ServiceProcess service;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws IOException {
    redis = RedisProcess.start();
    service =
        ServiceProcess.start(
            Files.writeString(folder.resolve("policies.yaml"), POLICIES),
            Map.of(
                "THROTTLEKIT_STORE_URI",
                redis.url(),
                "THROTTLEKIT_STORE_DEADLINE",
                "2s",
                "THROTTLEKIT_STORE_DECISION_DEADLINE",
                "2s",
                "THROTTLEKIT_STORE_LOCAL_SHARE",
                "0.5"),
            0,
            folder.resolve("log"));
    channel = NettyChannelBuilder.forAddress("127.0.0.1", service.port()).usePlaintext().build();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    service.close();
    redis.close();
  }

  @Test
  void everyRuleAnswersAnOutageAsItSaysAndCountsAgainAfterIt() throws Exception {
    assertThat(ask("leased")).isEqualTo(Code.OK);
    assertThat(page("/rlconfig")).contains("# store: redis://").contains(" answers\n");
    redis.stop();
    assertThat(ask("deny")).isEqualTo(Code.OVER_LIMIT);
    assertThat(ask("allow")).isEqualTo(Code.OK);
    assertThat(ask("allow")).isEqualTo(Code.OK);
    int admitted = 0;
    for (int i = 0; i < 10; i++) {
      admitted += ask("local") == Code.OK ? 1 : 0;
    }
    assertThat(admitted).as("half of ten").isEqualTo(5);
    assertThat(ask("leased")).as("what is leased is spent").isEqualTo(Code.OK);
    assertThat(failure("error")).isEqualTo(Status.Code.UNAVAILABLE);
    await().untilAsserted(() -> assertThat(page("/rlconfig")).contains("does not answer"));
    assertThat(page("/metrics"))
        .contains("throttlekit_store_up 0.0")
        .contains("throttlekit_outage_decisions_total{on_outage=\"local\"} 10.0");
    assertThat(page("/stats")).contains("redis_error");
    redis.restart();
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(ask("deny")).isEqualTo(Code.OK));
    assertThat(page("/rlconfig")).contains(" answers");
    assertThat(page("/metrics")).contains("throttlekit_store_up 1.0");
    assertThat(service.log()).contains("does not answer; on_outage").doesNotContain("\tat ");
  }

  private Code ask(String key) {
    RateLimitServiceBlockingStub stub =
        RateLimitServiceGrpc.newBlockingStub(channel).withDeadlineAfter(Duration.ofSeconds(10));
    return stub.shouldRateLimit(
            RateLimitRequest.newBuilder()
                .setDomain("shop")
                .addDescriptors(
                    RateLimitDescriptor.newBuilder()
                        .addEntries(
                            RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue("v")))
                .build())
        .getOverallCode();
  }

  private Status.Code failure(String key) {
    try {
      return Status.fromCodeValue(ask(key).getNumber()).getCode();
    } catch (StatusRuntimeException failed) {
      return failed.getStatus().getCode();
    }
  }

  private String page(String path) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://127.0.0.1:" + service.debugPort() + path);
      return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    }
  }
}
