package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A service with the variables by which envoyproxy/ratelimit counts in two Redis servers. */
@RealRedis
class SecondRedisTest {
  private static final Pattern READY = Pattern.compile("ready grpc=(\\S+) http=(\\S+) .*");
  private static final String POLICIES =
      """
      domain: shop
      descriptors:
      - {key: second, rate_limit: {unit: second, requests_per_unit: 1000, on_outage: deny}}
      - {key: day, rate_limit: {unit: day, requests_per_unit: 2}}
      - {key: hour, rate_limit: {unit: hour, requests_per_unit: 1000}}
      - {key: leased, rate_limit: {unit: second, requests_per_unit: 1000, tier: leased}}
      """;

  @TempDir private Path folder;
  private final RedisProcess first = RedisProcess.start();
  private final RedisProcess second = RedisProcess.start();
  private RateLimitService service;
  private ManagedChannel channel;
  private String http;

  @BeforeEach
  void start() throws IOException {
    requirePassword();
    Path policies = folder.resolve("policies.yaml");
    Files.writeString(policies, POLICIES);
    Map<String, String> environment = LoopbackService.environment(policies);
    environment.put("REDIS_SOCKET_TYPE", "tcp");
    environment.put("REDIS_URL", "127.0.0.1:" + first.port());
    environment.put("REDIS_PERSECOND", "true");
    environment.put("REDIS_PERSECOND_SOCKET_TYPE", "tcp");
    environment.put("REDIS_PERSECOND_URL", "127.0.0.1:" + second.port());
    environment.put("REDIS_PERSECOND_AUTH", "me:hunter2");
    environment.put("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "true");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0"); // saves time only
    service = LoopbackService.of(environment);
    assertThat(service.start()).isTrue();
    Matcher ready = READY.matcher(service.readyLine());
    assertThat(ready.matches()).isTrue();
    channel = NettyChannelBuilder.forTarget(ready.group(1)).usePlaintext().build();
    http = ready.group(2);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    service.stop();
    first.close();
    second.close();
  }

  @Test
  void countersOfLimitsPerSecondAreInTheSecondRedisOnly() {
    await() // a busy machine may look when a second is over
        .untilAsserted(() -> {
          assertThat(decide("second", "hour", "leased").getOverallCode()).isEqualTo(Code.OK);
          assertThat(keys(second)).contains("second").contains("leased");
        });
    assertThat(keys(second)).doesNotContain("hour");
    assertThat(keys(first)).contains("hour").doesNotContain("second").doesNotContain("leased");
  }

  @Test
  void whileTheSecondRedisIsDownItsRulesAreDecidedByTheirOutagePolicyAndTheOthersAreCounted()
      throws Exception {
    assertThat(service.healthy()).isTrue();
    second.kill();
    await().until(() -> !service.healthy());
    assertThat(decide("second").getOverallCode()).as("on_outage: deny").isEqualTo(Code.OVER_LIMIT);
    assertThat(decide("day").getOverallCode()).isEqualTo(Code.OK);
    assertThat(decide("day", "second").getOverallCode()).isEqualTo(Code.OVER_LIMIT);
    assertThat(decide("day").getOverallCode()).as("only one was counted").isEqualTo(Code.OK);
    assertThat(decide("day").getOverallCode()).isEqualTo(Code.OVER_LIMIT);
    assertThat(metrics())
        .contains("throttlekit_per_second_store_up 0.0")
        .contains("throttlekit_store_up 1.0")
        .contains("ratelimit_redis_per_second_pool_cx_active 0.0")
        .containsPattern("ratelimit_redis_pool_cx_active [1-9]");
    second.restart();
    requirePassword();
    await().until(service::healthy);
    await().until(() -> decide("second").getOverallCode() == Code.OK);
  }

  /** Lets the test look at the second Redis without a password, and nothing count there. */
  private void requirePassword() {
    second.command("ACL", "SETUSER", "me", "on", ">hunter2", "~*", "&*", "+@all");
    second.command("ACL", "SETUSER", "default", "-@scripting");
  }

  private RateLimitResponse decide(String... keys) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("shop");
    for (String key : keys) {
      RateLimitDescriptor.Entry entry =
          RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue("a").build();
      request.addDescriptors(RateLimitDescriptor.newBuilder().addEntries(entry));
    }
    return RateLimitServiceGrpc.newBlockingStub(channel).shouldRateLimit(request.build());
  }

  private String metrics() throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://" + http + "/metrics")).build();
      return client.send(request, BodyHandlers.ofString()).body();
    }
  }

  private static String keys(RedisProcess redis) {
    return redis.command("KEYS", "*");
  }
}
