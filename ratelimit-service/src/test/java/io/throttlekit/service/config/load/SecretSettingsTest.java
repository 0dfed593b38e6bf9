package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SecretSettingsTest {
  private static final Map<String, String> SENTINELS =
      Map.of(
          "THROTTLEKIT_STORE_URI", "redis-sentinel://a:1#m",
          "THROTTLEKIT_STORE_PER_SECOND_URI", "redis-sentinel://b:1#m",
          "THROTTLEKIT_FEDERATION_COORDINATOR", "redis-sentinel://c:1#m",
          "THROTTLEKIT_FEDERATION_REGION", "eu",
          "THROTTLEKIT_POLICIES_XDS_SERVER", "d:1");

  /** A secret that is missing there would be shown in logs. */
  @Test
  void theValueOfEverySecretSettingIsASecret() {
    Map<String, String> environment = new HashMap<>(SENTINELS);
    List<Setting> secret =
        Settings.ALL.stream()
            .filter(setting -> setting.attribute("form").equals("secret"))
            .toList();
    assertThat(secret).hasSizeGreaterThan(6);
    for (Setting setting : secret) {
      String value = "hunter-of-" + setting.path();
      String headers = setting.path().contains("otlp") ? "a=Bearer%20" : "a:";
      environment.put(
          setting.variable(), setting.path().endsWith("headers") ? headers + value : value);
    }
    assertThat(secrets(environment))
        .containsAll(secret.stream().map(setting -> "hunter-of-" + setting.path()).toList());
  }

  @Test
  void aPasswordInAUriIsASecretAsItIsSent() {
    assertThat(secrets(Map.of("THROTTLEKIT_STORE_URI", "redis://u:p%40ss@a:1"))).contains("p@ss");
  }

  /** The number of a tenant stands in many lines. */
  @Test
  void aShortValueOfAHeaderIsNoSecret() {
    assertThat(secrets(Map.of("THROTTLEKIT_TELEMETRY_OTLP_HEADERS", "x-scope-orgid=1,b=c%20d")))
        .allMatch(String::isEmpty);
  }

  private static List<String> secrets(Map<String, String> environment) {
    LoadedConfig loaded =
        new ConfigLoader(environment)
            .load(
                environment.containsKey("THROTTLEKIT_POLICIES_XDS_SERVER")
                    ? Map.of()
                    : Options.of("--policies", "p"));
    return Objects.requireNonNull(loaded.config(), () -> loaded.errors().toString()).secrets();
  }
}
