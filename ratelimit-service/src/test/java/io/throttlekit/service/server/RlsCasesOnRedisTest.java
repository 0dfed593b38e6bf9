package io.throttlekit.service.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.service.LoopbackService;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.server.RlsCasesProcessTest.Run;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares recorded answers of envoyproxy/ratelimit with those over gRPC and {@code /json} of a
 * service whose Redis answers 20 ms late: four times a tight deadline. No setting compensates for
 * the delay.
 */
@RealRedis
class RlsCasesOnRedisTest {
  private static final Pattern READY = Pattern.compile("ready grpc=(\\S+) http=(\\S+) .*");
  private static final long DELAY_MILLIS = 20;

  @TempDir private Path folder;

  @Test
  void aDropInStartAnswersSomeCasesOnASlowRedis() throws IOException {
    assertThat(checkDropIn(List.of(RlsCasesProcessTest.largest(false)))).isGreaterThan(5);
  }

  @Test
  @Tag("thorough")
  void aDropInStartAnswersEveryCaseOnASlowRedis() throws IOException {
    assertThat(checkDropIn(RlsCasesProcessTest.runs())).isEqualTo(43);
  }

  /** Uses only the environment variables of envoyproxy/ratelimit. */
  private int checkDropIn(List<Run> runs) throws IOException {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy slow = TcpProxy.to(redis.port())) {
      slow.delayReplies(DELAY_MILLIS);
      List<String> environment =
          List.of(
              "BACKEND_TYPE=redis", "REDIS_SOCKET_TYPE=tcp", "REDIS_URL=127.0.0.1:" + slow.port());
      int checked =
          RlsCasesProcessTest.check(runs, folder, environment, () -> redis.command("FLUSHALL"));
      assertThat(redis.command("DBSIZE")).as("the epoch, and counters").isNotIn("0", "1");
      return checked;
    }
  }

  /** Uses this service's settings, with defaults except those that change what is counted. */
  @Test
  void theDefaultSettingsAnswerEveryCaseOnASlowRedis() throws IOException {
    try (RedisProcess redis = RedisProcess.start();
        TcpProxy slow = TcpProxy.to(redis.port());
        HttpClient client = HttpClient.newHttpClient()) {
      slow.delayReplies(DELAY_MILLIS);
      for (Run run : RlsCasesProcessTest.runs()) {
        RlsCasesProcessTest.untilNoWindowEnds(_ -> check(run, redis, slow.port(), client));
      }
    }
  }

  private void check(Run run, RedisProcess redis, int port, HttpClient client) throws IOException {
    redis.command("FLUSHALL");
    RateLimitService service = service(run, port);
    assertThat(service.start()).isTrue();
    try {
      Matcher ready = READY.matcher(service.readyLine());
      assertThat(ready.matches()).isTrue();
      ManagedChannel channel = NettyChannelBuilder.forTarget(ready.group(1)).usePlaintext().build();
      try {
        var stub = RateLimitServiceGrpc.newBlockingStub(channel);
        RlsCasesProcessTest.check(run, stub::shouldRateLimit);
      } finally {
        channel.shutdownNow();
      }
      redis.command("FLUSHALL");
      RlsCasesProcessTest.check(run, RlsCases.json(client, ready.group(2)));
    } finally {
      service.stop();
    }
  }

  private RateLimitService service(Run run, int redisPort) throws IOException {
    Path policies = folder.resolve("policies.yaml");
    Files.writeString(policies, run.policies());
    Map<String, String> environment = LoopbackService.environment(policies);
    environment.keySet().removeIf(name -> name.startsWith("THROTTLEKIT_STORE_"));
    environment.put("THROTTLEKIT_STORE_URI", "redis://127.0.0.1:" + redisPort);
    environment.put("THROTTLEKIT_HTTP_JSON", "true");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0"); // saves time only
    if (!run.stops()) {
      environment.put("THROTTLEKIT_COMPATIBILITY_CHARGE_REJECTED", "true");
    }
    return LoopbackService.of(environment);
  }
}
