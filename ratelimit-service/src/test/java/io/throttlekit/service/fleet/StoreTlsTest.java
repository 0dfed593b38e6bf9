package io.throttlekit.service.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.netty.pkitesting.X509Bundle;
import io.throttlekit.testkit.net.Authority;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The process and a Redis behind TLS that requires a client certificate. */
@RealRedis
class StoreTlsTest {
  private static final String POLICIES =
      """
      domain: shop
      descriptors:
        - {key: two, rate_limit: {requests_per_unit: 2, every: 365000d, on_outage: deny}}
      """;

  private final Authority authority = Authority.named("ours");

  @TempDir private Path folder;

  private RedisProcess redis;
  private TcpProxy proxy;

  @BeforeEach
  void start() {
    redis = RedisProcess.start();
    proxy = TcpProxy.to(redis.port(), Authority.listen(authority.issue("redis.test"), authority));
  }

  @AfterEach
  void stop() {
    proxy.close();
    redis.close();
  }

  @Test
  void countsInAStoreOverTls() throws Exception {
    X509Bundle client = authority.issue("client");
    try (ServiceProcess service =
            serve(
                Map.of(
                    "THROTTLEKIT_STORE_TLS_CA",
                    authority.writeTo(folder.resolve("ca.pem")).toString(),
                    "THROTTLEKIT_STORE_TLS_CERTIFICATE",
                    Authority.certificate(folder.resolve("cert.pem"), client).toString(),
                    "THROTTLEKIT_STORE_TLS_KEY",
                    Authority.key(folder.resolve("key.pem"), client).toString(),
                    "THROTTLEKIT_STORE_TLS_VERIFY_HOST",
                    "false"));
        Caller caller = new Caller(service)) {
      caller.awaitStore();
      assertThat(caller.ask("two")).isEqualTo(Code.OK);
      assertThat(caller.ask("two")).isEqualTo(Code.OK);
      assertThat(caller.ask("two")).isEqualTo(Code.OVER_LIMIT);
      assertThat(redis.command("KEYS", "*")).contains("two");
      assertThat(caller.page("/rlconfig")).contains("# store: rediss://localhost:");
    }
  }

  @Test
  void reportsCertificateErrors() throws Exception {
    Path other = Authority.named("other").writeTo(folder.resolve("ca.pem"));
    try (ServiceProcess service = serve(Map.of("THROTTLEKIT_STORE_TLS_CA", other.toString()));
        Caller caller = new Caller(service)) {
      await()
          .untilAsserted(() -> {
            assertThat(caller.ask("two")).isEqualTo(Code.OVER_LIMIT);
            assertThat(caller.page("/rlconfig"))
                .contains("does not answer: ", "unable to find valid certification path");
            assertThat(service.log()).contains("unable to find valid certification path");
          });
      assertThat(redis.command("DBSIZE")).isEqualTo("0");
      assertThat(service.log()).doesNotContain("\tat ");
    }
  }

  private ServiceProcess serve(Map<String, String> tls) throws IOException {
    Map<String, String> environment = new HashMap<>(tls);
    environment.put("THROTTLEKIT_STORE_URI", "rediss://localhost:" + proxy.port());
    return ServiceProcess.start(
        Files.writeString(folder.resolve("policies.yaml"), POLICIES),
        environment,
        0,
        folder.resolve("log"));
  }
}
