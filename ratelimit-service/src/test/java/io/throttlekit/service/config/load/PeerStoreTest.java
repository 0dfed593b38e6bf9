package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.ClientCertificate;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAccess.StoreTls;
import io.throttlekit.service.config.StoreConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which Redis the environment of envoyproxy/ratelimit denotes. */
class PeerStoreTest {

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "redis:6379|||redis://redis:6379",
        "redis:6379||tcp|redis://redis:6379",
        ":6379||tcp|redis://localhost:6379",
        "redis||tcp|redis://redis:6379",
        "10.0.0.1:7|SINGLE|tcp|redis://10.0.0.1:7",
        "redis:6379|single|tls|rediss://redis:6379",
        "redis://redis:6379/2|||redis://redis:6379/2",
        "redis://redis:6379||unix|redis://redis:6379",
        "rediss://redis:6379||tcp|rediss://redis:6379",
        "/run/r.sock|||redis-socket:///run/r.sock",
        "/run/a b?.sock||unix|redis-socket:///run/a%20b%3F.sock",
        "main,s1:26379,s2:1|SENTINEL|tcp|redis-sentinel://s1:26379,s2:1#main",
        "main,s1|sentinel||redis-sentinel://s1:26379#main",
        "a:1,b:2|CLUSTER|tcp|redis-cluster://a:1,b:2",
        "a:1|Cluster|tcp|redis-cluster://a:1",
        "redis://a:1,redis://b:2|CLUSTER|tcp|redis-cluster://a:1,b:2",
        "redis-cluster://a:1|||redis-cluster://a:1",
        "redis-master:6379|||redis://redis-master:6379",
        "redis-master:6379|SINGLE|tcp|redis://redis-master:6379",
        "redis-cluster:6379||tcp|redis://redis-cluster:6379",
        "rediss-x:6379||tcp|redis://rediss-x:6379",
        "rediss:6379||tcp|redis://rediss:6379",
        "REDISS:6379||tcp|redis://REDISS:6379",
        "redis-master||tcp|redis://redis-master:6379",
        "REDIS://redis-master:6379|||redis://redis-master:6379",
        "REDISS://redis:6379||tcp|rediss://redis:6379",
        "redis://rediss:6379|||redis://rediss:6379",
        "redis-0.redis:6379,redis-1.redis:6379|CLUSTER|tcp|redis-cluster://redis-0.redis:6379,redis-1.redis:6379",
        "rediss:1,redis-b:2|CLUSTER|tcp|redis-cluster://rediss:1,redis-b:2",
        "rediss://a:1,rediss://b:2|CLUSTER|tcp|rediss-cluster://a:1,b:2",
        "redis-master,redis-sentinel:26379|SENTINEL|tcp|redis-sentinel://redis-sentinel:26379#redis-master",
        "rediss,rediss-s1:26379,REDIS://redis-s2:1|SENTINEL|tcp|redis-sentinel://rediss-s1:26379,redis-s2:1#rediss",
        "REDIS-SENTINEL://redis-s1:26379#redis-master|||redis-sentinel://redis-s1:26379#redis-master",
        "[::1]:6379||tcp|redis://[::1]:6379",
        "main,[::1]:26379|SENTINEL|tcp|redis-sentinel://[::1]:26379#main",
        "[::1]:1,[::2]:2|CLUSTER|tcp|redis-cluster://[::1]:1,[::2]:2"
      })
  void urlTypeAndSocketTypeDetermineTheAddress(
      String url, String type, String socketType, String address) {
    StoreConfig store = store(environment(url, type, socketType));
    assertThat(store.address()).hasToString(address);
    assertThat(store.access().login()).isEqualTo(Login.none());
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "redis:6379|SINGLE|rediss://redis:6379",
        "redis://redis:6379|SINGLE|rediss://redis:6379",
        "main,s1:1|SENTINEL|rediss-sentinel://s1:1#main",
        "a:1,b:2|CLUSTER|rediss-cluster://a:1,b:2"
      })
  void tlsIsUsedIfEnabled(String url, String type, String address) {
    Map<String, String> environment = environment(url, type, "tcp");
    environment.put("REDIS_TLS", "false");
    environment.put("REDIS_TLS_CACERT", "ca.pem");
    assertThat(store(environment).access().tls()).isNull();
    environment.put("REDIS_TLS", "true");
    assertThat(store(environment).address()).hasToString(address);
    assertThat(store(environment).access().tls())
        .isEqualTo(new StoreTls(Path.of("ca.pem"), null, true));
    environment.put("REDIS_TLS_CLIENT_CERT", "c.pem");
    environment.put("REDIS_TLS_CLIENT_KEY", "k.pem");
    environment.put("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION", "true");
    assertThat(store(environment).access().tls())
        .isEqualTo(
            new StoreTls(
                Path.of("ca.pem"),
                new ClientCertificate(Path.of("c.pem"), Path.of("k.pem")),
                false));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "pw, '', pw",
    "me:pw, me, pw",
    "me:p:w, me, p:w",
    ":pw, '', pw",
    "p@/?#%w, '', p@/?#%w"
  })
  void aPasswordMayHaveAUserBeforeAColon(String auth, String user, String password) {
    Map<String, String> environment = environment("main,s1:1", "SENTINEL", "tcp");
    environment.put("REDIS_AUTH", auth);
    assertThat(store(environment).access())
        .isEqualTo(new StoreAccess(new Login(user, password), Login.none(), null));
    environment.remove("REDIS_AUTH");
    environment.put("REDIS_SENTINEL_AUTH", auth);
    assertThat(store(environment).access())
        .isEqualTo(new StoreAccess(Login.none(), new Login(user, password), null));
  }

  @Test
  void aSeparatePasswordOverridesTheOneInTheUrl() {
    Map<String, String> environment = environment("redis://me:old@r:1", null, null);
    assertThat(store(environment).access().login()).isEqualTo(new Login("me", "old"));
    environment.put("REDIS_AUTH", "new");
    assertThat(store(environment).access().login()).isEqualTo(new Login("", "new"));
    environment.put("THROTTLEKIT_STORE_PASSWORD", "newer");
    assertThat(store(environment).access().login()).isEqualTo(new Login("", "newer"));
  }

  @Test
  void theEnvironmentAloneSelectsRedisWithoutWarnings() {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "RUNTIME_ROOT", "/data",
                "BACKEND_TYPE", "redis",
                "REDIS_URL", "redis:6379",
                "REDIS_SOCKET_TYPE", "tcp",
                "REDIS_TYPE", "SINGLE",
                "REDIS_AUTH", "hunter2",
                "REDIS_PERSECOND", "false",
                "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "true",
                "LOCAL_CACHE_SIZE_IN_BYTES", "1048576",
                "CACHE_KEY_PREFIX", "rl:"));
    LoadedConfig loaded = new ConfigLoader(environment).load(Map.of());
    assertThat(loaded.errors()).isEmpty();
    assertThat(loaded.warnings()).isEmpty();
    ServiceConfig config = Objects.requireNonNull(loaded.config());
    assertThat(config.store().address()).hasToString("redis://redis:6379");
    assertThat(config.store().keyPrefix()).isEqualTo("rl:");
    assertThat(config.store().cachedDenyDefault()).isTrue();
    assertThat(config.health().storeMustBeReachable()).isTrue();
    assertThat(loaded.yaml()).contains("password: \"***\"  # env REDIS_AUTH");
    assertThat(loaded.yaml() + config).doesNotContain("hunter2");
  }

  @Test
  void ourOwnSettingsOverrideIt() {
    Map<String, String> environment = environment("redis:6379", null, null);
    environment.put("THROTTLEKIT_STORE_URI", "redis://own:1");
    assertThat(store(environment).address()).hasToString("redis://own:1");
    LoadedConfig loaded =
        new ConfigLoader(environment).load(Options.of("--policies", "p", "--store", "memory"));
    assertThat(Objects.requireNonNull(loaded.config()).store().address().inMemory()).isTrue();
    assertThat(loaded.warnings())
        .containsExactly(
            "set but without effect here: REDIS_URL (counters are in the memory of this process:"
                + " store.uri is memory)");
  }

  @Test
  void unsupportedStoreVariablesAreListedWithReasons() {
    Map<String, String> environment = environment("redis:6379", null, "tcp");
    environment.put("REDIS_PERSECOND_URL", "other:6379");
    environment.put("REDIS_POOL_SIZE", "20");
    environment.put("REDIS_PIPELINE_WINDOW", "150us");
    environment.put("REDIS_STARTUP_MAX_INTERVAL", "1s");
    environment.put("EXPIRATION_JITTER_MAX_SECONDS", "1");
    assertThat(load(environment).warnings())
        .containsExactly(
            "set but without effect here: REDIS_PERSECOND_URL (REDIS_PERSECOND is not true);"
                + " REDIS_POOL_SIZE (connections are shared, there is no"
                + " pool); REDIS_STARTUP_MAX_INTERVAL (it starts without its store, and keeps"
                + " connecting); EXPIRATION_JITTER_MAX_SECONDS (keys expire with their windows);"
                + " REDIS_PIPELINE_WINDOW (requests are batched as they arrive)");
    environment.put("REDIS_PERSECOND", "true");
    environment.put("REDIS_PERSECOND_POOL_SIZE", "20");
    environment.put("REDIS_PERSECOND_PIPELINE_LIMIT", "4");
    assertThat(load(environment).warnings().getFirst())
        .contains("REDIS_PERSECOND_POOL_SIZE, REDIS_POOL_SIZE (connections are shared")
        .contains("REDIS_PERSECOND_PIPELINE_LIMIT, REDIS_PIPELINE_WINDOW (requests are batched")
        .doesNotContain("REDIS_PERSECOND_URL");
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "redis:6379||tcp|redis://redis:6379",
        "/run/r.sock||unix|redis-socket:///run/r.sock",
        "/var/run/r.sock|||redis-socket:///var/run/r.sock",
        "redis:6379|SINGLE|tls|rediss://redis:6379",
        "redis-second:6379||tcp|redis://redis-second:6379",
        "rediss:6379||tcp|redis://rediss:6379",
        "main,s1:26379,s2:1|SENTINEL|tcp|redis-sentinel://s1:26379,s2:1#main",
        "a:1,b:2|CLUSTER|tcp|redis-cluster://a:1,b:2"
      })
  void theSecondRedisIsReadLikeTheFirst(
      String url, String type, String socketType, String address) {
    Map<String, String> environment = environment("first:1", null, "tcp");
    environment.put("REDIS_PERSECOND", "true");
    environment(url, type, socketType)
        .forEach((name, text) -> environment.put(name.replace("REDIS_", "REDIS_PERSECOND_"), text));
    environment.put("REDIS_PERSECOND_AUTH", "me:hunter2");
    environment.put("REDIS_PERSECOND_SENTINEL_AUTH", "hunter3");
    environment.put("REDIS_PERSECOND_TIMEOUT", "3s");
    LoadedConfig loaded = load(environment);
    assertThat(loaded.errors()).isEmpty();
    assertThat(loaded.warnings()).isEmpty();
    StoreConfig.PerSecond second = second(environment);
    assertThat(second.address()).hasToString(address);
    assertThat(second.access().login()).isEqualTo(new Login("me", "hunter2"));
    assertThat(second.access().sentinelLogin()).isEqualTo(new Login("", "hunter3"));
    assertThat(second.connect()).isEqualTo(Duration.ofSeconds(3));
    assertThat(store(environment).address()).hasToString("redis://first:1");
    assertThat(loaded.yaml() + loaded.config()).doesNotContain("hunter");
    environment.put("REDIS_PERSECOND", "false");
    assertThat(store(environment).perSecond()).isNull();
  }

  @Test
  void bothRedisServersShareTheFilesOfTls() {
    Map<String, String> environment = environment("first:1", null, "tcp");
    environment.put("REDIS_PERSECOND", "true");
    environment.put("REDIS_PERSECOND_URL", "second:2");
    environment.put("REDIS_PERSECOND_TLS", "true");
    environment.put("REDIS_TLS_CACERT", "ca.pem");
    assertThat(load(environment).warnings()).isEmpty();
    assertThat(second(environment).address()).hasToString("rediss://second:2");
    assertThat(second(environment).access().tls())
        .isEqualTo(new StoreTls(Path.of("ca.pem"), null, true));
    assertThat(store(environment).access().tls()).isNull();
    environment.put("REDIS_TLS", "true");
    environment.put("REDIS_PERSECOND_TLS", "false");
    assertThat(second(environment).access().tls()).isNull();
    assertThat(store(environment).access().tls()).isNotNull();
  }

  @Test
  void aSecondRedisNeedsItsAddressAndAFirstOne() {
    Map<String, String> environment = environment("first:1", null, "tcp");
    environment.put("REDIS_PERSECOND", "true");
    assertThat(load(environment).errors())
        .containsExactly("env REDIS_PERSECOND: needs REDIS_PERSECOND_URL");
    environment.put("THROTTLEKIT_STORE_PER_SECOND_URI", "redis://own:1");
    assertThat(second(environment).address()).hasToString("redis://own:1");
    environment.remove("THROTTLEKIT_STORE_PER_SECOND_URI");
    environment.put("REDIS_PERSECOND_URL", "second:2");
    environment.put("THROTTLEKIT_STORE_URI", "postgresql://db/x");
    assertThat(load(environment).errors())
        .containsExactly(
            "env REDIS_PERSECOND_URL: store.per_second.uri needs a Redis in store.uri, which is"
                + " postgresql://db:5432/x");
    environment.put("THROTTLEKIT_STORE_URI", "memory");
    assertThat(load(environment).errors()).isEmpty();
    assertThat(load(environment).warnings())
        .singleElement()
        .asString()
        .contains("REDIS_PERSECOND, REDIS_PERSECOND_URL, REDIS_SOCKET_TYPE, REDIS_URL (counters");
  }

  @Test
  void memcacheIsAnError() {
    Map<String, String> environment = environment("redis:6379", null, null);
    environment.put("BACKEND_TYPE", "memcache");
    assertThat(load(environment).errors())
        .singleElement()
        .asString()
        .startsWith("env BACKEND_TYPE: memcache is no store here")
        .contains("multiply every limit");
    environment.remove("REDIS_URL");
    assertThat(load(environment).errors()).hasSize(1);
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "main|SENTINEL|tcp|env REDIS_URL: \"main\" is not MASTER,HOST:PORT",
        "a:1,b:2|SINGLE|tcp|env REDIS_URL: \"redis://a:1,b:2\": several hosts need",
        "a:1|SENTINAL|tcp|env REDIS_TYPE: \"SENTINAL\" is not one of single, sentinel, cluster",
        "a:1|SINGLE|tpc|env REDIS_SOCKET_TYPE: \"tpc\" is not one of unix, tcp, tls",
        "r.sock||unix|env REDIS_URL: \"r.sock\" is not the absolute path of a Unix socket",
        "redis|||env REDIS_URL: \"redis\" is not the absolute path of a Unix socket; for TCP write"
            + " redis:6379 and REDIS_SOCKET_TYPE=tcp",
        "redis:6379||unix|env REDIS_URL: \"redis:6379\" is not the absolute path of a Unix socket;"
            + " for TCP write redis:6379 and REDIS_SOCKET_TYPE=tcp",
        "::1:6379|||env REDIS_URL: \"redis://:***\": an IPv6 address is in brackets: [::1]:6379"
      })
  void anErrorNamesTheVariable(String url, String type, String socketType, String expected) {
    assertThat(load(environment(url, type, socketType)).errors())
        .singleElement()
        .asString()
        .startsWith(expected);
  }

  @Test
  void tlsOverAUnixSocketIsRejected() {
    Map<String, String> environment = environment("/run/r.sock", null, null);
    environment.put("REDIS_TLS", "true");
    assertThat(load(environment).errors())
        .singleElement()
        .asString()
        .startsWith(
            "env REDIS_URL: \"/run/r.sock\" is the path of a Unix socket, which has no TLS");
  }

  private static Map<String, String> environment(
      String url, @Nullable String type, @Nullable String socketType) {
    Map<String, String> environment = new HashMap<>(Map.of("REDIS_URL", url));
    if (type != null) {
      environment.put("REDIS_TYPE", type);
    }
    if (socketType != null) {
      environment.put("REDIS_SOCKET_TYPE", socketType);
    }
    return environment;
  }

  private static StoreConfig.PerSecond second(Map<String, String> environment) {
    return Objects.requireNonNull(store(environment).perSecond());
  }

  private static StoreConfig store(Map<String, String> environment) {
    LoadedConfig loaded = load(environment);
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config()).store();
  }

  private static LoadedConfig load(Map<String, String> environment) {
    return new ConfigLoader(environment).load(Options.of("--policies", "p"));
  }
}
