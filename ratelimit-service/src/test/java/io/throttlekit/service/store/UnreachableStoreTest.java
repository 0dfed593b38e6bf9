package io.throttlekit.service.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.TimeSource;
import io.throttlekit.service.Logged;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.LoadedConfig;
import io.throttlekit.service.config.load.Options;
import io.throttlekit.service.telemetry.StoreTelemetry;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.service.telemetry.statsd.RedisPools;
import io.throttlekit.service.telemetry.traces.TracedValues;
import io.throttlekit.testkit.net.Authority;
import io.throttlekit.testkit.net.ReservedPort;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the first message about a backend that cannot be reached has the reason. */
@RealRedis
@RealPostgres
class UnreachableStoreTest {
  /** Clients, which log each attempt. */
  private static final List<Logger> CLIENTS =
      List.of(Logger.getLogger("io.lettuce"), Logger.getLogger("com.zaxxer.hikari"));

  private static final ReservedPort CLOSED = ReservedPort.take();
  private static RedisProcess redis;
  private static RedisProcess locked;
  private static RedisProcess hanging;
  private static RedisProcess sentinel;
  private static PostgresProcess postgres;
  private static ServerSocket tls;

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(
          1, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  private final Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());

  @BeforeAll
  static void start() {
    CLIENTS.forEach(client -> client.setLevel(Level.OFF));
    redis = RedisProcess.start();
    locked = RedisProcess.start("--requirepass", "right");
    hanging = RedisProcess.start();
    hanging.hang();
    sentinel = RedisProcess.start("--sentinel");
    sentinel.command("SENTINEL", "MONITOR", "gone", "127.0.0.1", "" + CLOSED.number(), "1");
    postgres = PostgresProcess.startFast();
    Authority authority = Authority.named("other");
    tls = Authority.listen(authority.issue("localhost"), null);
    Thread.ofVirtual().start(UnreachableStoreTest::accept);
  }

  /** Shakes hands over TLS with each client. */
  private static void accept() {
    while (!tls.isClosed()) {
      try {
        var client = tls.accept();
        Thread.ofVirtual()
            .start(() -> {
              try (client) {
                while (client.getInputStream().read() >= 0) {
                  // until the client ends it, or its handshake fails
                }
              } catch (IOException _) {
                // as it should
              }
            });
      } catch (IOException _) {
        return;
      }
    }
  }

  @AfterAll
  static void stop() throws IOException {
    CLIENTS.forEach(client -> client.setLevel(null));
    tls.close();
    postgres.close();
    sentinel.close();
    hanging.close();
    locked.close();
    redis.close();
    CLOSED.close();
  }

  @AfterEach
  void close() {
    telemetry.close();
    var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiterString = " -> ",
      value = {
        "redis://127.0.0.1:CLOSED -> refused",
        "redis://no-such-host.invalid -> unknown host",
        "redis://127.0.0.1:LOCKED -> NOAUTH",
        "redis://:wrong@127.0.0.1:LOCKED -> WRONGPASS",
        "redis://127.0.0.1:HANGING -> timed out",
        "rediss://127.0.0.1:REDIS -> timed out.*; does it support TLS",
        "redis://127.0.0.1:TLS -> does it require TLS",
        "rediss://127.0.0.1:TLS -> TLS failed: .*certification path",
        "redis-sentinel://127.0.0.1:CLOSED#main -> refused",
        "redis-sentinel://no-such-host.invalid:1#main -> unknown host",
        "redis-sentinel://127.0.0.1:SENTINEL#main -> unknown to the Sentinel: main",
        "redis-sentinel://127.0.0.1:SENTINEL#gone -> refused",
        "redis-sentinel://127.0.0.1:HANGING#main -> timed out",
        "redis-cluster://127.0.0.1:CLOSED -> : \\[redis://127.0.0.1:[0-9]+]: .*refused",
        "redis-cluster://no-such-host.invalid -> Failed to resolve 'no-such-host.invalid'",
        "redis-cluster://127.0.0.1:REDIS -> cluster support disabled",
        "redis-cluster://:wrong@127.0.0.1:LOCKED -> WRONGPASS",
        "redis-cluster://127.0.0.1:HANGING -> timed out",
        "rediss-cluster://127.0.0.1:TLS -> certification path",
        "postgresql://127.0.0.1:CLOSED/x?sslmode=disable -> refused",
        "postgresql://127.0.0.1:CLOSED,localhost:CLOSED/x?sslmode=disable -> refused",
        "postgresql://no-such-host.invalid/x?sslmode=disable -> unknown host",
        "postgresql://nobody@127.0.0.1:POSTGRES/postgres?sslmode=disable -> role .* does not exist",
        "postgresql://postgres@127.0.0.1:POSTGRES/x?sslmode=disable -> database .* does not exist",
        "postgresql://postgres@127.0.0.1:POSTGRES/postgres?sslmode=require -> not support SSL",
        "postgresql://postgres@127.0.0.1:HANGING/postgres?sslmode=disable -> timed out"
      })
  void theFirstMessageHasTheReason(String uri, String reason) throws InterruptedException {
    Map<String, String> environment = new HashMap<>(Map.of("THROTTLEKIT_STORE_URI", at(uri)));
    if (reason.startsWith("timed out")) {
      environment.put("THROTTLEKIT_STORE_CONNECT_TIMEOUT", "2s");
    }
    assertThat(firstWarning(environment, "the store "))
        .containsPattern(reason)
        .doesNotContain("\n");
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "redis://[::1]:CLOSED",
        "redis-sentinel://[::1]:CLOSED#main",
        "redis-cluster://[::1]:CLOSED",
        "postgresql://[::1]:CLOSED/x?sslmode=disable"
      })
  void anIpv6AddressIsConnectedTo(String uri) throws InterruptedException {
    assertThat(firstWarning(Map.of("THROTTLEKIT_STORE_URI", at(uri)), "the store "))
        .containsPattern("(?i)refused|unreachable|cannot assign|not supported"); // without IPv6
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiterString = " -> ",
      value = {
        "redis://127.0.0.1:CLOSED -> refused",
        "redis-sentinel://127.0.0.1:SENTINEL#main -> unknown to the Sentinel: main",
        "redis-cluster://:wrong@127.0.0.1:LOCKED -> WRONGPASS",
        "postgresql://nobody@127.0.0.1:POSTGRES/postgres?sslmode=disable -> role .* does not exist",
        "postgresql://127.0.0.1:CLOSED/x?sslmode=disable -> refused"
      })
  void theFirstMessageAboutACoordinatorHasTheReason(String uri, String reason)
      throws InterruptedException {
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_FEDERATION_COORDINATOR", at(uri), "THROTTLEKIT_FEDERATION_REGION", "eu");
    assertThat(firstWarning(environment, "the coordinator ")).containsPattern(reason);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiterString = " -> ",
      value = {"redis://127.0.0.1:CLOSED -> refused", "redis://127.0.0.1:LOCKED -> NOAUTH"})
  void theFirstMessageAboutASecondRedisHasTheReason(String uri, String reason)
      throws InterruptedException {
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_STORE_URI", redis.url(),
            "THROTTLEKIT_STORE_PER_SECOND_URI", at(uri));
    assertThat(firstWarning(environment, "the per-second store ")).containsPattern(reason);
  }

  private static String at(String uri) {
    return uri.replace("CLOSED", "" + CLOSED.number())
        .replace("REDIS", "" + redis.port())
        .replace("LOCKED", "" + locked.port())
        .replace("HANGING", "" + hanging.port())
        .replace("SENTINEL", "" + sentinel.port())
        .replace("POSTGRES", "" + postgres.port())
        .replace("TLS", "" + tls.getLocalPort());
  }

  /** Returns the first warning of a start as the service makes it. */
  private String firstWarning(Map<String, String> environment, String role)
      throws InterruptedException {
    Map<String, String> all = new HashMap<>(environment);
    // Longer than every other reason takes on a busy machine.
    all.putIfAbsent("THROTTLEKIT_STORE_CONNECT_TIMEOUT", "1m");
    all.putIfAbsent("THROTTLEKIT_STORE_PER_SECOND_CONNECT_TIMEOUT", "1m");
    LoadedConfig loaded = new ConfigLoader(all).load(Options.of("--policies", "p"));
    assertThat(loaded.errors()).isEmpty();
    ServiceConfig config = Objects.requireNonNull(loaded.config());
    try (Logged states = Logged.by(BackendState.class);
        Logged starts = Logged.by(SharedStore.class);
        SharedStore store =
            new SharedStore(
                config.store(),
                config.federation(),
                loops,
                new StoreTelemetry(
                    telemetry.meter(),
                    TracerProvider.noop().get("test"),
                    TracedValues.PLAIN,
                    new RedisPools()),
                TimeSource.system(),
                _ -> {})) {
      var _ = store.awaitAnswers();
      await().until(() -> warnings(states, starts).stream().anyMatch(line -> line.contains(role)));
      List<String> warnings = warnings(states, starts);
      assertThat(warnings)
          .as("no other subject")
          .noneMatch(line -> line.contains("raise ") || line.contains(".deadline"));
      return warnings.getFirst();
    }
  }

  private static List<String> warnings(Logged states, Logged starts) {
    return Stream.of(states, starts)
        .flatMap(logged -> logged.records().stream())
        .filter(line -> line.getLevel().intValue() >= Level.WARNING.intValue())
        .sorted(Comparator.comparingLong(LogRecord::getSequenceNumber))
        .map(LogRecord::getMessage)
        .toList();
  }
}
