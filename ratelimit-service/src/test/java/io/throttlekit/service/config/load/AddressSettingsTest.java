package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.ServiceConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the syntax of all settings that are hosts or addresses. */
class AddressSettingsTest {

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "127.0.0.1:9090, 127.0.0.1, 9090",
    ":9090, 0.0.0.0, 9090",
    "[::]:9090, ::, 9090",
    "[::1]:0, ::1, 0",
    "[FD00::7]:65535, FD00::7, 65535",
    "[::ffff:10.0.0.1]:1, ::ffff:10.0.0.1, 1",
    "[fe80::1%eth0]:1, fe80::1%eth0, 1",
    "my_host.a-b:1, my_host.a-b, 1"
  })
  void anAddressToListenOnIsHostAndPort(String text, String host, int port) {
    ServiceConfig config = config(Map.of("PROMETHEUS_ADDR", text));
    assertThat(Objects.requireNonNull(config.metrics()).host()).isEqualTo(host);
    assertThat(config.metrics().port()).isEqualTo(port);
    config = config(Map.of("THROTTLEKIT_SENSORS_LISTEN", text));
    assertThat(config.sensors().host()).isEqualTo(host);
    assertThat(config.sensors().port()).isEqualTo(port);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[::1]", "::1"})
  void aHostThatIsIpv6MayHaveBrackets(String host) {
    Map<String, String> environment = new HashMap<>();
    List.of("GRPC_HOST", "HOST", "DEBUG_HOST", "STATSD_HOST")
        .forEach(name -> environment.put(name, host));
    environment.put("CONFIG_GRPC_XDS_SERVER_URL", "[::1]:18000");
    environment.put("CONFIG_TYPE", "GRPC_XDS_SOTW");
    environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", "http://[::1]:4318");
    LoadedConfig loaded = new ConfigLoader(environment).load(Map.of());
    assertThat(loaded.errors()).isEmpty();
    ServiceConfig config = Objects.requireNonNull(loaded.config());
    assertThat(config.grpc().host()).isEqualTo("::1");
    assertThat(config.http().host()).isEqualTo("::1");
    assertThat(config.debug().host()).isEqualTo("::1");
    assertThat(loaded.yaml()).contains("    host: \"::1\"  # env STATSD_HOST");
    assertThat(Objects.requireNonNull(config.policies().xds()).server()).isEqualTo("[::1]:18000");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "PROMETHEUS_ADDR|9090|' is not HOST:PORT, [IPV6]:PORT, or :PORT for every address'",
        "PROMETHEUS_ADDR|::1|' is not HOST:PORT'",
        "PROMETHEUS_ADDR|::1:9090|: an IPv6 address is in brackets before a port; write [::1]:9090",
        "PROMETHEUS_ADDR|[::1]|' is not HOST:PORT'",
        "PROMETHEUS_ADDR|[::1]9090|' is not HOST:PORT'",
        "PROMETHEUS_ADDR|[host]:9090|' is not HOST:PORT'",
        "PROMETHEUS_ADDR|[10.0.0.1]:9090|' is not HOST:PORT'",
        "PROMETHEUS_ADDR|[::g]:9090|' is not HOST:PORT'",
        "PROMETHEUS_ADDR|[[::1]]:9090|' is not HOST:PORT'",
        "PROMETHEUS_ADDR|a:65536|' is not HOST:PORT'",
        "GRPC_HOST|[::1]:80|' is not a host name or an IP address without a port'",
        "GRPC_HOST|a:80|' is not a host name or an IP address without a port'",
        "GRPC_HOST|[::|' is not a host name or an IP address without a port'",
        "GRPC_HOST|1::2::3|' is not a host name or an IP address without a port'",
        "THROTTLEKIT_POLICIES_XDS_SERVER|:18000|' is not HOST:PORT or [IPV6]:PORT'",
        "THROTTLEKIT_POLICIES_XDS_SERVER|::1:18000|: an IPv6 address is in brackets before a port",
        "THROTTLEKIT_POLICIES_XDS_SERVER|[::1]:0|' is not HOST:PORT or [IPV6]:PORT'"
      })
  void anythingElseIsAnError(String name, String text, String problem) {
    assertThat(load(Map.of(name, text)).errors())
        .first()
        .asString()
        .startsWith("env " + name + ": \"" + text + "\"" + problem);
  }

  @Test
  void aPrintedAddressCanBeReadAgain() {
    assertThat(load(Map.of("PROMETHEUS_ADDR", "[::]:9090")).yaml())
        .contains("address: \"[::]:9090\"  # env PROMETHEUS_ADDR");
  }

  private static ServiceConfig config(Map<String, String> environment) {
    LoadedConfig loaded = load(environment);
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config());
  }

  private static LoadedConfig load(Map<String, String> environment) {
    return new ConfigLoader(environment).load(Options.of("--policies", "p"));
  }
}
