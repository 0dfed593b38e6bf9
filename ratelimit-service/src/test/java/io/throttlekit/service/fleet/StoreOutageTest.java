package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The process as callers and operators see it during outages of its Redis. */
@RealRedis
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
  private Caller caller;

  @BeforeEach
  void start() throws IOException {
    redis = RedisProcess.start();
    service =
        ServiceProcess.start(
            Files.writeString(folder.resolve("policies.yaml"), POLICIES),
            Map.of("THROTTLEKIT_STORE_URI", redis.url(), "THROTTLEKIT_STORE_LOCAL_SHARE", "0.5"),
            0,
            folder.resolve("log"));
    caller = new Caller(service);
  }

  @AfterEach
  void stop() {
    caller.close();
    service.close();
    redis.close();
  }

  @Test
  void everyRuleAppliesItsOnOutageAndCountsAgainAfterwards() throws Exception {
    caller.awaitStore();
    assertThat(caller.ask("leased")).isEqualTo(Code.OK);
    assertThat(caller.page("/rlconfig")).contains("# store: redis://").contains(" answers\n");
    redis.stop();
    assertThat(caller.ask("deny")).isEqualTo(Code.OVER_LIMIT);
    assertThat(caller.ask("allow")).isEqualTo(Code.OK);
    assertThat(caller.ask("allow")).isEqualTo(Code.OK);
    int admitted = 0;
    for (int i = 0; i < 10; i++) {
      admitted += caller.ask("local") == Code.OK ? 1 : 0;
    }
    assertThat(admitted).as("half of ten").isEqualTo(5);
    assertThat(caller.ask("leased")).as("leased units are spent").isEqualTo(Code.OK);
    assertThat(failure("error")).isEqualTo(Status.Code.UNAVAILABLE);
    await().untilAsserted(() -> assertThat(caller.page("/rlconfig")).contains("does not answer: "));
    await()
        .untilAsserted(() ->
            assertThat(caller.page("/metrics"))
                .contains("throttlekit_store_up 0.0")
                .contains("throttlekit_outage_decisions_total{on_outage=\"local\"} 10.0"));
    assertThat(caller.page("/stats")).contains("redis_error");
    redis.restart();
    await().untilAsserted(() -> assertThat(caller.ask("deny")).isEqualTo(Code.OK));
    await()
        .untilAsserted(() -> {
          assertThat(caller.page("/rlconfig")).contains(" answers");
          assertThat(caller.page("/metrics")).contains("throttlekit_store_up 1.0");
        });
    assertThat(service.log()).contains("does not answer; on_outage").doesNotContain("\tat ");
  }

  private Status.Code failure(String key) {
    try {
      return Status.fromCodeValue(caller.ask(key).getNumber()).getCode();
    } catch (StatusRuntimeException failed) {
      return failed.getStatus().getCode();
    }
  }
}
