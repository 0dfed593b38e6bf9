package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class StoreAssemblyTest {

  private final Map<String, String> environment =
      new HashMap<>(Map.of("THROTTLEKIT_POLICIES_PATHS", "p"));

  @Test
  void aPasswordIsIgnoredForTheMemoryStore() {
    set("PASSWORD", "hunter2");
    assertThat(store()).isEqualTo(ConfigLoader.defaults().store());
  }

  @Test
  void aUserNeedsAPasswordAndACertificateItsKey() {
    set("USER", "me");
    set("SENTINEL_USER", "me");
    set("TLS_CERTIFICATE", "c.pem");
    assertThat(load().errors())
        .containsExactly(
            "env THROTTLEKIT_STORE_USER: store.user needs store.password",
            "env THROTTLEKIT_STORE_SENTINEL_USER: store.sentinel_user needs"
                + " store.sentinel_password",
            "env THROTTLEKIT_STORE_TLS_CERTIFICATE: store.tls.certificate needs store.tls.key");
    environment.remove("THROTTLEKIT_STORE_TLS_CERTIFICATE");
    set("TLS_KEY", "k.pem");
    assertThat(load().errors())
        .contains("env THROTTLEKIT_STORE_TLS_KEY: store.tls.key needs store.tls.certificate");
  }

  @Test
  void tlsIsConfiguredExactlyIfTheUriRequiresIt() {
    set("URI", "rediss://r");
    assertThat(store().access().tls()).isEqualTo(new StoreAccess.StoreTls(null, null, true));
    set("TLS_CA", "ca.pem");
    assertThat(store().access().tls())
        .isEqualTo(new StoreAccess.StoreTls(Path.of("ca.pem"), null, true));
    assertThat(load().warnings()).isEmpty();
    set("URI", "redis-socket:///r");
    assertThat(store().access().tls()).isNull();
    set("URI", "redis://r");
    assertThat(store().access().tls()).isNull();
    assertThat(load().warnings())
        .containsExactly(
            "store.tls.ca (env THROTTLEKIT_STORE_TLS_CA) has no effect: redis://r:6379 does not"
                + " use TLS");
  }

  @Test
  void postgresNeedsNoPasswordAndSettingsOverrideTheUriSeparately() {
    set("URI", "postgresql://me@db/x");
    assertThat(store().access().login()).isEqualTo(new Login("me", ""));
    set("PASSWORD", "hunter2");
    assertThat(store().access().login()).isEqualTo(new Login("me", "hunter2"));
    set("USER", "you");
    assertThat(store().access().login()).isEqualTo(new Login("you", "hunter2"));
    environment.remove("THROTTLEKIT_STORE_PASSWORD");
    assertThat(store().access().login()).isEqualTo(new Login("you", ""));
    set("URI", "postgresql://me:old@db/x");
    assertThat(store().access().login()).isEqualTo(new Login("you", "old"));
  }

  @Test
  void theSslModeOfPostgresDeterminesHostVerification() {
    set("URI", "postgresql://db/x?sslmode=verify-full");
    set("TLS_CA", "ca.pem");
    assertThat(store().access().tls())
        .isEqualTo(new StoreAccess.StoreTls(Path.of("ca.pem"), null, true));
    assertThat(load().warnings()).isEmpty();
    set("TLS_VERIFY_HOST", "false");
    assertThat(store().access().tls())
        .isEqualTo(new StoreAccess.StoreTls(Path.of("ca.pem"), null, true));
    assertThat(load().warnings())
        .containsExactly(
            "store.tls.verify_host (env THROTTLEKIT_STORE_TLS_VERIFY_HOST) has no effect:"
                + " sslmode=verify-full decides");
    set("TLS_VERIFY_HOST", "true");
    set("URI", "postgresql://db/x");
    assertThat(store().access().tls())
        .isEqualTo(new StoreAccess.StoreTls(Path.of("ca.pem"), null, false));
    set("URI", "postgresql://db/x?sslmode=disable");
    assertThat(store().access().tls()).isNull();
    assertThat(load().warnings())
        .containsExactly(
            "store.tls.ca (env THROTTLEKIT_STORE_TLS_CA) has no effect:"
                + " postgresql://db:5432/x?sslmode=disable does not use TLS");
  }

  @Test
  void aSecretThatWasNotPrintedIsNotReadBackAsOne() {
    set("PASSWORD", "***");
    assertThat(load().errors())
        .containsExactly(
            "env THROTTLEKIT_STORE_PASSWORD: \"***\": *** is printed in place of a secret");
  }

  @Test
  void aMalformedSecretIsNotShown() {
    set("PASSWORD", "hunter2\n");
    assertThat(load().errors())
        .containsExactly(
            "env THROTTLEKIT_STORE_PASSWORD: \"***\" is not a text without control characters");
  }

  @Test
  void switchingToMemoryKeepsOtherSettings() {
    set("URI", "redis://:hunter2@r");
    set("MAX_COUNTERS", "7");
    StoreConfig inMemory = store().inMemory();
    assertThat(inMemory.address().inMemory()).isTrue();
    assertThat(inMemory.access()).isEqualTo(StoreAccess.open());
    assertThat(inMemory.maxCounters()).isEqualTo(7);
  }

  @Test
  void healthCanRequireAStoreOnlyIfOneIsConfigured() {
    environment.put("THROTTLEKIT_HEALTH_STORE_MUST_BE_REACHABLE", "true");
    assertThat(load().warnings()).hasSize(1);
    set("URI", "redis://r");
    assertThat(load().warnings()).isEmpty();
  }

  @Test
  void aSecondRedisNeedsAFirstOneAndIsOne() {
    set("PER_SECOND_USER", "me");
    assertThat(load().warnings())
        .containsExactly(
            "store.per_second.user (env THROTTLEKIT_STORE_PER_SECOND_USER) has no effect: there is"
                + " no store.per_second.uri");
    set("PER_SECOND_URI", "redis://:hunter2@b");
    String origin = "env THROTTLEKIT_STORE_PER_SECOND_URI: store.per_second.uri ";
    assertThat(load().errors())
        .containsExactly(origin + "needs a Redis in store.uri, which is memory");
    set("URI", "redis://a");
    assertThat(load().errors())
        .containsExactly(
            "env THROTTLEKIT_STORE_PER_SECOND_USER: store.per_second.user needs"
                + " store.per_second.password");
    environment.remove("THROTTLEKIT_STORE_PER_SECOND_USER");
    StoreConfig second = Objects.requireNonNull(store().secondStore());
    assertThat(second.address()).hasToString("redis://b:6379");
    assertThat(second.access().login()).isEqualTo(new Login("", "hunter2"));
    assertThat(second.perSecond()).isNull();
    for (String other : List.of("memory", "postgresql://me:hunter2@db/x")) {
      set("PER_SECOND_URI", other);
      assertThat(load().errors())
          .containsExactly(origin + "is %s, which is no Redis".formatted(hidden(other)));
    }
  }

  private static String hidden(String uri) {
    return uri.replace("me:hunter2", "***").replace("@db/", "@db:5432/");
  }

  private void set(String setting, String value) {
    environment.put("THROTTLEKIT_STORE_" + setting, value);
  }

  private StoreConfig store() {
    LoadedConfig loaded = load();
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config()).store();
  }

  private LoadedConfig load() {
    return new ConfigLoader(environment).load(Options.of());
  }
}
