package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.XdsConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class XdsSettingsTest {
  private static final Map<String, String> OVER_XDS = Map.of("CONFIG_TYPE", "GRPC_XDS_SOTW");

  /** What Envoy Gateway 1.9.1 sets, without the variables of Redis. */
  private static final Map<String, String> ENVOY_GATEWAY =
      Map.ofEntries(
          Map.entry("RUNTIME_ROOT", "/data"),
          Map.entry("RUNTIME_SUBDIRECTORY", "ratelimit"),
          Map.entry("RUNTIME_IGNOREDOTFILES", "true"),
          Map.entry("RUNTIME_WATCH_ROOT", "false"),
          Map.entry("LOG_LEVEL", "info"),
          Map.entry("USE_STATSD", "false"),
          Map.entry("CONFIG_TYPE", "GRPC_XDS_SOTW"),
          Map.entry("CONFIG_GRPC_XDS_SERVER_URL", "envoy-gateway:18001"),
          Map.entry("CONFIG_GRPC_XDS_NODE_ID", "envoy-ratelimit"),
          Map.entry("GRPC_SERVER_USE_TLS", "true"),
          Map.entry("GRPC_SERVER_TLS_CERT", "/certs/tls.crt"),
          Map.entry("GRPC_SERVER_TLS_KEY", "/certs/tls.key"),
          Map.entry("CONFIG_GRPC_XDS_SERVER_USE_TLS", "true"),
          Map.entry("CONFIG_GRPC_XDS_CLIENT_TLS_CERT", "/certs/tls.crt"),
          Map.entry("CONFIG_GRPC_XDS_CLIENT_TLS_KEY", "/certs/tls.key"),
          Map.entry("CONFIG_GRPC_XDS_SERVER_TLS_CACERT", "/certs/ca.crt"),
          Map.entry("FORCE_START_WITHOUT_INITIAL_CONFIG", "true"));

  private static LoadedConfig load(Map<String, String> environment) {
    return new ConfigLoader(environment).load(Map.of());
  }

  private static LoadedConfig load(String variable, String value) {
    Map<String, String> environment = new HashMap<>(OVER_XDS);
    environment.put(variable, value);
    return load(environment);
  }

  private static PolicyConfig policies(LoadedConfig loaded) {
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config()).policies();
  }

  private static XdsConfig xds(LoadedConfig loaded) {
    return Objects.requireNonNull(policies(loaded).xds());
  }

  @Test
  void theEnvironmentOfEnvoyGatewaySelectsItsControlPlane() {
    LoadedConfig loaded = load(ENVOY_GATEWAY);
    XdsConfig xds = xds(loaded);
    assertThat(xds.server()).isEqualTo("envoy-gateway:18001");
    assertThat(xds.nodeId()).isEqualTo("envoy-ratelimit");
    assertThat(xds.tls())
        .isEqualTo(
            new XdsConfig.XdsTls(
                Path.of("/certs/ca.crt"),
                null,
                Path.of("/certs/tls.crt"),
                Path.of("/certs/tls.key")));
    assertThat(policies(loaded).requireAtStart()).isFalse();
    assertThat(loaded.defaults())
        .startsWith("the defaults of envoyproxy/ratelimit apply")
        .contains("\"envoy-gateway:18001\", env CONFIG_GRPC_XDS_SERVER_URL");
    assertThat(loaded.warnings())
        .containsExactly(
            "set but without effect here: RUNTIME_IGNOREDOTFILES, RUNTIME_ROOT,"
                + " RUNTIME_SUBDIRECTORY, RUNTIME_WATCH_ROOT (policies come over xDS)");
  }

  @Test
  void theDefaultsAreThoseOfThatProgram() {
    LoadedConfig loaded = load(OVER_XDS);
    assertThat(xds(loaded))
        .isEqualTo(
            new XdsConfig(
                "localhost:18000",
                "default",
                Map.of(),
                Map.of(),
                null,
                new XdsConfig.Backoff(
                    Duration.ofSeconds(3), Duration.ofSeconds(10), Duration.ofMinutes(1), 2, 0.5),
                4 << 20,
                null,
                null));
    assertThat(policies(loaded).requireAtStart()).as("it waits for policies").isTrue();
    assertThat(Objects.requireNonNull(loaded.config()).http().json()).isTrue();
  }

  @Test
  void everyVariableHasItsSetting() {
    assertThat(xds(load("CONFIG_GRPC_XDS_NODE_METADATA", "a=1, b=x=y")).nodeMetadata())
        .isEqualTo(Map.of("a", "1", "b", "x=y"));
    assertThat(xds(load("CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS", "X-Id:1,b:c:d")).headers())
        .isEqualTo(Map.of("x-id", "1", "b", "c:d"));
    assertThat(xds(load("CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL", "5s")).backoff().connect())
        .isEqualTo(Duration.ofSeconds(5));
    assertThat(xds(load("XDS_CLIENT_BACKOFF_INITIAL_INTERVAL", "5s")).backoff().lost())
        .isEqualTo(Duration.ofSeconds(5));
    assertThat(xds(load("XDS_CLIENT_BACKOFF_JITTER", "false")).backoff().jitter()).isZero();
    assertThat(xds(load("XDS_CLIENT_BACKOFF_JITTER", "true")).backoff().jitter()).isEqualTo(0.5);
    assertThat(xds(load("XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES", "8388608")).maxMessageBytes())
        .isEqualTo(8 << 20);
    assertThat(xds(load("XDS_CLIENT_BACKOFF_RANDOM_FACTOR", "1.5")).backoff().growth())
        .isEqualTo(1.5);
    assertThat(xds(load("XDS_CLIENT_BACKOFF_RANDOM_FACTOR", "0.5")).backoff().growth())
        .as("pauses do not become shorter")
        .isOne();
  }

  @Test
  void aFirstPauseIsNotLongerThanTheLongest() {
    assertThat(xds(load("XDS_CLIENT_BACKOFF_MAX_INTERVAL", "2s")).backoff())
        .isEqualTo(
            new XdsConfig.Backoff(
                Duration.ofSeconds(2), Duration.ofSeconds(2), Duration.ofSeconds(2), 2, 0.5));
  }

  @Test
  void withoutTlsItsFilesHaveNoEffect() {
    Map<String, String> environment = new HashMap<>(ENVOY_GATEWAY);
    environment.remove("CONFIG_GRPC_XDS_SERVER_USE_TLS");
    assertThat(xds(load(environment)).tls()).isNull();
    Map<String, String> own =
        Map.of(
            "THROTTLEKIT_POLICIES_XDS_SERVER", "cp:1",
            "THROTTLEKIT_POLICIES_XDS_TLS_CA", "ca.pem");
    assertThat(load(own).warnings())
        .containsExactly(
            "policies.xds.tls.ca (env THROTTLEKIT_POLICIES_XDS_TLS_CA) has no effect:"
                + " policies.xds.tls.enabled is false");
    assertThat(policies(load(own)).requireAtStart()).isTrue();
  }

  @Test
  void withFilesTheVariablesOfXdsHaveNoEffect() {
    Map<String, String> environment = new HashMap<>(ENVOY_GATEWAY);
    environment.put("CONFIG_TYPE", "FILE");
    environment.put("THROTTLEKIT_POLICIES_XDS_OVERRIDES", "/o.yaml");
    LoadedConfig loaded = load(environment);
    assertThat(policies(loaded).xds()).isNull();
    assertThat(loaded.warnings())
        .anyMatch(line ->
            line.contains("CONFIG_GRPC_XDS_SERVER_URL")
                && line.contains("(policies come from files)"))
        .anyMatch(line ->
            line.startsWith("policies.xds.overrides")
                && line.endsWith("there is no policies.xds.server"));
  }

  @Test
  void pathsReplaceTheControlPlane() {
    LoadedConfig loaded = new ConfigLoader(OVER_XDS).load(Options.of("--policies", "p"));
    assertThat(policies(loaded).xds()).isNull();
    assertThat(loaded.defaults()).startsWith("the service's own defaults apply");
    assertThat(loaded.warnings())
        .containsExactly(
            "policies.xds.server (default of envoyproxy/ratelimit) has no effect: policies.paths"
                + " names files");
  }

  @ParameterizedTest
  @CsvSource({
    "CONFIG_GRPC_XDS_SERVER_URL, host, is not HOST:PORT",
    "CONFIG_GRPC_XDS_SERVER_URL, http://host:1, is not HOST:PORT",
    "CONFIG_GRPC_XDS_SERVER_URL, host:65536, is not HOST:PORT",
    "CONFIG_GRPC_XDS_NODE_METADATA, a:1, 'each part of policies.xds.node_metadata is NAME=VALUE,"
        + " separated by commas'",
    "CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS, a=ä b:1, 'the text before a \":\" is not the name"
        + " of a header'",
    "CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS, a:ä, the value of a has characters other than"
        + " printable ASCII",
    "CONFIG_GRPC_XDS_SERVER_USE_TLS, yes, is not true or false",
    "XDS_CLIENT_BACKOFF_JITTER, 2, is not true or false",
    "XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES, 1, is not a whole number from 1024 to 67108864",
    "CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL, 3, is not a duration"
  })
  void aWrongValueIsReportedWithItsVariable(String variable, String value, String problem) {
    assertThat(load(variable, value).errors())
        .singleElement()
        .asString()
        .startsWith("env " + variable + ": ")
        .contains(problem)
        .doesNotContain("ä");
  }

  @Test
  void headersAreNotPrinted() {
    LoadedConfig loaded = load("CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS", "token:hunter2");
    assertThat(loaded.yaml()).doesNotContain("hunter2").contains("server: \"localhost:18000\"");
  }
}
