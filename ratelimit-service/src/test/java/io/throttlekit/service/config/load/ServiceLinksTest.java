package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that variables which Kubernetes sets for Services are no settings. */
class ServiceLinksTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "THROTTLEKIT",
        "THROTTLEKIT_REDIS",
        "THROTTLEKIT_STORE",
        "THROTTLEKIT_GRPC",
        "THROTTLEKIT_HTTP",
        "THROTTLEKIT_DEBUG",
        "THROTTLEKIT_TELEMETRY_STATSD",
        "GRPC",
        "DEBUG",
        "STATSD",
        "REDIS",
        "MEMCACHE"
      })
  void theVariablesOfAServiceHaveNoEffect(String service) {
    for (String address : new String[] {"10.96.0.7", "fd00::7"}) {
      Map<String, String> environment = ofService(service, address, 6379);
      LoadedConfig loaded = load(environment);
      assertThat(loaded.errors()).isEmpty();
      assertThat(loaded.warnings()).isEmpty();
      assertThat(loaded.yaml()).isEqualTo(load(Map.of()).yaml());
      for (Map.Entry<String, String> variable : environment.entrySet()) {
        assertThat(load(Map.of(variable.getKey(), variable.getValue())).errors())
            .as("%s alone", variable)
            .isEmpty();
      }
    }
  }

  @Test
  void thoseThatAreLikeSettingsAreNamedOnce() {
    Map<String, String> environment = ofService("GRPC", "10.96.0.7", 80);
    environment.putAll(ofService("OTHER", "10.96.0.8", 80));
    environment.put("THROTTLEKIT_REDIS_PORT", "tcp://10.96.0.7:6379");
    assertThat(load(environment).skipped())
        .isEqualTo(
            "skipped, because Kubernetes sets them for Services (enableServiceLinks: false in the"
                + " pod turns that off): GRPC_PORT, THROTTLEKIT_REDIS_PORT");
    assertThat(load(Map.of("GRPC_PORT", "9000")).skipped()).isEmpty();
  }

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource({
    "THROTTLEKIT_GRCP_PORT, 8081",
    "THROTTLEKIT_REDIS_PORT, 6379",
    "THROTTLEKIT_REDIS_PORT, tcp://redis:6379",
    "THROTTLEKIT_REDIS_PORT, redis://10.0.0.1:6379",
    "THROTTLEKIT_REDIS_PORT, tcp://10.0.0.1",
    "THROTTLEKIT_SERVICE_HOST, redis",
    "THROTTLEKIT_SERVICE_HOSTS, 10.0.0.1",
    "THROTTLEKIT_STORE_SERVICE_PORT, high",
    "THROTTLEKIT_REDIS_PORT_6379_TCP, 10.0.0.1:6379",
    "THROTTLEKIT_REDIS_PORT_6379_TPC, tcp://10.0.0.1:6379",
    "THROTTLEKIT_REDIS_PORT_6379_TCP_ADR, 10.0.0.1",
    "THROTTLEKIT_REDIS_PORT_6379_TCP_PROTO, http",
    "THROTTLEKIT_GRPC_HOSTS, 10.0.0.1"
  })
  void aMisspelledSettingIsStillReported(String name, String value) {
    assertThat(load(Map.of(name, value)).errors())
        .singleElement()
        .asString()
        .startsWith("env " + name + ": there is no such setting");
  }

  @Test
  void anInvalidPortIsStillReported() {
    assertThat(load(Map.of("GRPC_PORT", "tcp://host:80")).errors())
        .singleElement()
        .asString()
        .startsWith("env GRPC_PORT: \"tcp://host:80\" is not a port");
  }

  @Test
  void noSettingHasAValueThatIsSkipped() {
    EveryField.environment()
        .forEach((name, value) ->
            assertThat(ServiceLinks.isLink(name, value)).as("%s=%s", name, value).isFalse());
    Settings.ALL.forEach(setting ->
        assertThat(setting.variable())
            .doesNotMatch(".*_SERVICE_(HOST|PORT).*|.*_PORT_[0-9]+_(TCP|UDP|SCTP).*"));
  }

  /** Returns what a kubelet sets for a Service with a port that has a name. */
  private static Map<String, String> ofService(String name, String address, int port) {
    String host = address.contains(":") ? "[" + address + "]" : address;
    String link = name + "_PORT_" + port + "_TCP";
    String url = "tcp://" + host + ":" + port;
    Map<String, String> set = new HashMap<>();
    set.put(name + "_SERVICE_HOST", address);
    set.put(name + "_SERVICE_PORT", String.valueOf(port));
    set.put(name + "_SERVICE_PORT_MAIN_PORT", String.valueOf(port));
    set.put(name + "_PORT", url);
    set.put(link, url);
    set.put(link + "_PROTO", "tcp");
    set.put(link + "_PORT", String.valueOf(port));
    set.put(link + "_ADDR", address);
    return set;
  }

  private static LoadedConfig load(Map<String, String> environment) {
    return Objects.requireNonNull(
        new ConfigLoader(environment).load(Options.of("--policies", "p")));
  }
}
