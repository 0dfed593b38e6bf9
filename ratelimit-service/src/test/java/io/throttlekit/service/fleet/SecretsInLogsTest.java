package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.telemetry.OtlpCollector;
import io.throttlekit.testkit.envoy.ChildProcess;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole output of processes at the level that logs what libraries send. */
@RealRedis
@RealPostgres
class SecretsInLogsTest {
  private static final String PASSWORD = "päss w0rd/of+the@store";
  private static final String OTHER = "pw-of-the-second";
  private static final String TOKEN = "t0ken-of-the-collector";
  private static final String POLICIES =
      """
      domain: shop
      descriptors:
        - {key: day, rate_limit: {requests_per_unit: 2, every: 365000d}}
        - {key: second, rate_limit: {requests_per_unit: 200, unit: second}}
      """;

  @TempDir private Path folder;

  @Test
  void showNoPasswordOfRedisAndNoTokenOfACollector() throws Exception {
    try (RedisProcess redis = RedisProcess.start("--requirepass", PASSWORD);
        RedisProcess second = RedisProcess.start("--requirepass", OTHER);
        OtlpCollector collector = OtlpCollector.start()) {
      Map<String, String> environment = new HashMap<>();
      environment.put("THROTTLEKIT_STORE_URI", redis.url());
      environment.put("THROTTLEKIT_STORE_PASSWORD", PASSWORD);
      environment.put(
          "THROTTLEKIT_STORE_PER_SECOND_URI", "redis://:" + OTHER + "@127.0.0.1:" + second.port());
      environment.put("THROTTLEKIT_TELEMETRY_TRACING", "true");
      environment.put("THROTTLEKIT_TELEMETRY_OTLP_PROTOCOL", "grpc");
      environment.put(
          "THROTTLEKIT_TELEMETRY_OTLP_ENDPOINT", "http://127.0.0.1:" + collector.port());
      environment.put("THROTTLEKIT_TELEMETRY_OTLP_HEADERS", "authorization=Bearer%20" + TOKEN);
      String log = logOf(environment, () -> !collector.spans().isEmpty());
      assertThat(log).as("the libraries log at this level").contains("RedisChannelHandler");
      assertNoSecret(log, PASSWORD, OTHER, TOKEN);
    }
  }

  @Test
  void showNoWrongPasswordOfRedis() throws Exception {
    try (RedisProcess redis = RedisProcess.start("--requirepass", PASSWORD)) {
      Map<String, String> environment = new HashMap<>();
      environment.put(
          "THROTTLEKIT_STORE_URI", "redis://u5er:" + OTHER + "@127.0.0.1:" + redis.port());
      String log = logOf(environment, null);
      assertThat(log).contains("WRONGPASS");
      assertNoSecret(log, OTHER);
    }
  }

  @Test
  void showNoPasswordOfPostgres() throws Exception {
    Path hba = folder.resolve("hba.conf");
    Files.writeString(
        hba,
        """
        host all postgres 127.0.0.1/32 trust
        host all limiter 127.0.0.1/32 scram-sha-256
        host all plain 127.0.0.1/32 password
        """);
    try (PostgresProcess postgres = PostgresProcess.start("hba_file=" + hba)) {
      try (Connection connection = postgres.connect("postgres");
          Statement statement = connection.createStatement()) {
        for (String role : List.of("limiter", "plain")) {
          statement.execute("CREATE ROLE %s LOGIN PASSWORD '%s'".formatted(role, PASSWORD));
          statement.execute("GRANT CREATE ON DATABASE postgres TO " + role);
        }
      }
      for (String role : List.of("limiter", "plain")) {
        Map<String, String> environment = new HashMap<>();
        environment.put(
            "THROTTLEKIT_STORE_URI",
            "postgresql://127.0.0.1:" + postgres.port() + "/postgres?schema=of_" + role);
        environment.put("THROTTLEKIT_STORE_USER", role);
        environment.put("THROTTLEKIT_STORE_PASSWORD", PASSWORD);
        String log = logOf(environment, () -> true);
        assertThat(log).contains("QueryExecutorImpl").doesNotContain("SASL", "md5digest=");
        assertNoSecret(log, PASSWORD);
      }
    }
  }

  @Test
  void showNoHeaderForAControlPlane() throws Exception {
    // no control plane, but it reads the headers of the stream before it says so
    try (OtlpCollector server = OtlpCollector.start()) {
      Map<String, String> environment = new HashMap<>();
      environment.put("THROTTLEKIT_TELEMETRY_LOG_LEVEL", "trace");
      environment.put("THROTTLEKIT_POLICIES_XDS_SERVER", "127.0.0.1:" + server.port());
      environment.put("THROTTLEKIT_POLICIES_XDS_HEADERS", "x-token:" + TOKEN);
      environment.put("THROTTLEKIT_POLICIES_REQUIRE_AT_START", "false");
      List<String> command = new ArrayList<>(ServiceJvm.command());
      command.addAll(List.of("serve", "--grpc-port=0", "--http-port=0", "--debug-port=0"));
      try (ChildProcess process = ChildProcess.start(command, environment, folder.resolve("log"))) {
        await().until(() -> process.log().contains("UNIMPLEMENTED"));
        assertNoSecret(process.log(), TOKEN);
      }
    }
  }

  /** Returns the log of a process that has decided; without {@code until}, one that could not. */
  private String logOf(
      Map<String, String> environment, java.util.concurrent.@Nullable Callable<Boolean> until)
      throws Exception {
    environment.put("THROTTLEKIT_TELEMETRY_LOG_LEVEL", "trace");
    Path policy = Files.writeString(folder.resolve("policy.yaml"), POLICIES);
    try (ServiceProcess service =
            ServiceProcess.start(policy, environment, 0, folder.resolve("log"));
        Caller caller = new Caller(service)) {
      if (until == null) {
        await().until(() -> service.log().contains("WRONGPASS"));
      } else {
        assertThat(caller.ask("day")).isEqualTo(Code.OK);
        assertThat(caller.ask("second")).isEqualTo(Code.OK);
        await().until(until);
      }
      assertThat(service.stop()).isZero();
      return service.log();
    }
  }

  private static void assertNoSecret(String log, String... secrets) throws IOException {
    for (String secret : secrets) {
      // what a wire log in another character set, a URI or a header would show of it
      String ascii = secret.replace('ä', '\uFFFD');
      String encoded = java.net.URLEncoder.encode(secret, StandardCharsets.UTF_8);
      String base64 = Base64.getEncoder().encodeToString(secret.getBytes(StandardCharsets.UTF_8));
      for (String form :
          List.of(
              secret, ascii, ascii.replace("\uFFFD", "\uFFFD\uFFFD"), "w0rd", encoded, base64)) {
        assertThat(log.lines().filter(line -> line.contains(form)).limit(3))
            .as("lines with %s", form)
            .isEmpty();
      }
    }
  }
}
