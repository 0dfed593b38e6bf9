package io.throttlekit.service.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.service.Logged;
import io.throttlekit.service.LoopbackService;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.SlowTime;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the warm-up of the path to a store. */
@RealRedis
class StoreWarmUpTest {
  private static final Duration LATE = Duration.ofMillis(250);

  private static final Pattern HTTP = Pattern.compile(".* http=(\\S+) .*");

  @TempDir private Path folder;
  private final RedisProcess redis = RedisProcess.start();

  @AfterEach
  void stop() {
    redis.close();
  }

  @Test
  void warmsUpEachConnectionWithoutCountersOrMetrics() throws Exception {
    RateLimitService service = service(redis.url(), 300);
    try (Logged log = Logged.by(RateLimitService.class)) {
      assertThat(service.start()).isTrue();
      assertThat(log.lines()) // as many as there was time for
          .anyMatch(line -> line.matches("INFO warmed up the path to the store with [1-9].*"));
      List<String> connections =
          redis
              .command("CLIENT", "LIST")
              .lines()
              .filter(line -> line.contains("age="))
              .filter(line -> !line.contains("cmd=client"))
              .toList();
      assertThat(connections).as("one for each event loop").hasSize(2);
      assertThat(connections).as("its last command").allMatch(line -> line.contains("cmd=evalsha"));
      assertThat(redis.command("DBSIZE")).as("the epoch and its history").isEqualTo("2");
      assertThat(redis.command("INFO", "commandstats"))
          .as("the epoch and its history, of hundreds of calls")
          .contains("cmdstat_set:calls=2,");
      String metrics = metrics(service);
      assertThat(metrics)
          .contains("throttlekit_store_up 1")
          .contains("throttlekit_store_round_trips_total 0")
          .contains("throttlekit_store_requests_total 0")
          .contains("throttlekit_decisions_total{outcome=\"admitted\"} 0")
          .doesNotContainPattern("throttlekit_store_failures_total\\{.*\\} [1-9]");
    } finally {
      service.stop();
    }
  }

  /** The round trip to another availability zone; the path is warmed up, too. */
  @Test
  void aStoreThatAnswersAfter20MillisIsWarmedUp() throws Exception {
    try (TcpProxy slow = TcpProxy.to(redis.port())) {
      slow.delayReplies(20);
      assertThat(warmedUp(service("redis://127.0.0.1:" + slow.port(), 300))).isTrue();
    }
  }

  /** Ten answers take longer than the 2 s that a store is awaited. */
  @Test
  void aStoreThatAnswersAfter250MillisIsWarmedUp() throws Exception {
    try (TcpProxy slow = TcpProxy.to(redis.port())) {
      slow.delayReplies(LATE.toMillis());
      assertThat(warmedUp(service("redis://127.0.0.1:" + slow.port(), 300))).isTrue();
    }
  }

  /** The warm-up ends with calls in flight, whose answers come as late as others. */
  @Test
  void requestsInFlightAtTheEndOfTheWarmUpAreNotCounted() throws Exception {
    try (TcpProxy slow = TcpProxy.to(redis.port())) {
      slow.delayReplies(LATE.toMillis());
      RateLimitService service = service("redis://127.0.0.1:" + slow.port(), 20_000);
      try {
        assertThat(service.start()).isTrue();
        await()
            .during(LATE.multipliedBy(2))
            .until(() -> metrics(service), page -> page.contains("store_requests_total 0.0"));
      } finally {
        service.stop();
      }
    }
  }

  @Test
  void theStoreIsWarmedUpThoughTheCoordinatorDoesNotAnswer() throws Exception {
    try (TcpProxy away = TcpProxy.to(redis.port())) {
      away.hang();
      Map<String, String> environment = environment(redis.url(), 300);
      environment.put("THROTTLEKIT_FEDERATION_REGION", "eu");
      environment.put("THROTTLEKIT_FEDERATION_COORDINATOR", "redis://127.0.0.1:" + away.port());
      environment.put("THROTTLEKIT_FEDERATION_DEADLINE", "100ms");
      environment.put("THROTTLEKIT_STORE_LEASE_DEADLINE", "1s");
      assertThat(warmedUp(LoopbackService.of(environment))).isTrue();
    }
  }

  @Test
  void anUnreachableStoreIsNotWarmedUp() throws Exception {
    redis.kill();
    RateLimitService service = service(redis.url(), 300);
    try (Logged log = Logged.by(RateLimitService.class)) {
      assertThat(service.start()).isTrue();
      assertThat(log.lines()).noneMatch(line -> line.contains("path to the store"));
    } finally {
      service.stop();
    }
  }

  private static boolean warmedUp(RateLimitService service) {
    try (Logged log = Logged.by(RateLimitService.class)) {
      assertThat(service.start()).isTrue();
      return log.lines().stream()
          .anyMatch(line -> line.matches("INFO warmed up the path to the store with [1-9].*"));
    } finally {
      service.stop();
    }
  }

  private RateLimitService service(String store, int requests) throws IOException {
    return LoopbackService.of(environment(store, requests), new SlowTime(20));
  }

  private Map<String, String> environment(String store, int requests) throws IOException {
    Files.writeString(folder.resolve("p.yaml"), "domain: shop\n");
    Map<String, String> environment = LoopbackService.environment(folder);
    environment.put("THROTTLEKIT_GRPC_EVENT_LOOPS", "2");
    environment.put("THROTTLEKIT_STORE_URI", store);
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", Integer.toString(requests));
    return environment;
  }

  private static String metrics(RateLimitService service) throws Exception {
    Matcher http = HTTP.matcher(service.readyLine());
    assertThat(http.matches()).isTrue();
    HttpRequest page =
        HttpRequest.newBuilder(URI.create("http://" + http.group(1) + "/metrics")).build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(page, BodyHandlers.ofString()).body();
    }
  }
}
