package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigLoaderTest {

  @TempDir private Path folder;

  @Test
  void withOnlyPoliciesTheDefaultsApply() {
    ServiceConfig config = config(Map.of(), flags(null));
    assertThat(config.policies().paths()).containsExactly(Path.of("policies"));
    ServiceConfig defaults = ConfigLoader.defaults();
    assertThat(config.grpc()).isEqualTo(defaults.grpc());
    assertThat(config.http()).isEqualTo(defaults.http());
    assertThat(config.debug()).isEqualTo(defaults.debug());
    assertThat(config.metrics()).isNull();
    assertThat(config.store()).isEqualTo(defaults.store());
    assertThat(config.federation()).isNull();
    assertThat(config.response()).isEqualTo(defaults.response());
    assertThat(config.compatibility()).isEqualTo(defaults.compatibility());
    assertThat(config.telemetry()).isEqualTo(defaults.telemetry());
    assertThat(config.health()).isEqualTo(defaults.health());
    assertThat(config.warmUp()).isEqualTo(defaults.warmUp());
  }

  @Test
  void theListenerForSensorsHasTheDefaultBoundsOfConnectionsAndResets() {
    GrpcConfig.Limits limits = ConfigLoader.defaults().grpc().limits();
    assertThat(
            new GrpcConfig.Limits(
                limits.messageBytes(),
                limits.descriptors(),
                limits.entryBytes(),
                limits.callsPerConnection()))
        .isEqualTo(limits);
  }

  @Test
  void ownDefaultsMergeDomainsSendRetryAfterAndDoNotChargeRefusals() {
    ServiceConfig config = config(Map.of(), flags(null));
    assertThat(config.compatibility().chargeRejected()).isFalse();
    assertThat(config.policies().mergeDomains()).isTrue();
    assertThat(config.response().retryAfter()).isTrue();
    assertThat(config.response().structuredHeaders()).isFalse();
    assertThat(config.response().headers().enabled()).isFalse();
    assertThat(config.debug().host()).isEqualTo("127.0.0.1");
  }

  @Test
  void aPortBesideAUnixSocketIsReportedAsWithoutEffect() {
    Map<String, String> socket = Map.of("GRPC_UDS", "/run/s");
    Map<String, List<String>> port = Options.of("--policies", "p", "--grpc-port", "8081");
    assertThat(new ConfigLoader(socket).load(port).warnings())
        .containsExactly(
            "grpc.port (--grpc-port) has no effect: gRPC is on the Unix socket /run/s, env"
                + " GRPC_UDS");
    assertThat(new ConfigLoader(socket).load(flags(null)).warnings()).isEmpty();
    assertThat(new ConfigLoader(Map.of()).load(port).warnings()).isEmpty();
    assertThat(
            new ConfigLoader(Map.of("GRPC_UDS", "/run/s", "GRPC_PORT", "9"))
                .load(flags(null))
                .warnings())
        .hasSize(1);
  }

  @Test
  void theCommandLineOverridesTheEnvironmentAndThatTheFile() throws IOException {
    String file =
        file("grpc: {port: 1}\nhttp: {port: 1}\ndebug: {port: 1}\nstore: {max_counters: 9}");
    Map<String, String> environment =
        Map.of(
            "GRPC_PORT", "2",
            "PORT", "2",
            "DEBUG_PORT", "2",
            "THROTTLEKIT_HTTP_PORT", "3",
            "THROTTLEKIT_DEBUG_PORT", "3");
    Map<String, List<String>> flags =
        Options.of("--policies", "p", "--config", file, "--debug-port", "4");
    ServiceConfig config = config(environment, flags);
    assertThat(config.store().maxCounters()).isEqualTo(9);
    assertThat(config.grpc().port()).isEqualTo(2);
    assertThat(config.http().port()).isEqualTo(3);
    assertThat(config.debug().port()).isEqualTo(4);
  }

  @Test
  void thePrintedConfigurationIsReadBack() throws IOException {
    LoadedConfig first = new ConfigLoader(everyField()).load(Map.of());
    assertThat(first.errors()).isEmpty();
    String yaml = // passwords are not printed
        first.yaml().replace("_headers: \"***\"", "_headers: a=b").replace("\"***\"", "hunter2");
    LoadedConfig second = new ConfigLoader(Map.of()).load(flagsWithFile(file(yaml)));
    assertThat(second.errors()).isEmpty();
    assertThat(second.config()).isEqualTo(first.config());
    assertThat(first.config()).isNotEqualTo(ConfigLoader.defaults());
  }

  @Test
  void everyFieldHasAVariableThatThePrintedConfigurationNames() {
    Map<String, String> environment = everyField();
    String yaml = new ConfigLoader(environment).load(Map.of()).yaml();
    assertThat(environment).hasSameSizeAs(Settings.ALL);
    assertThat(yaml.lines().filter(line -> line.contains("# env THROTTLEKIT_")))
        .hasSameSizeAs(Settings.ALL);
    assertThat(yaml).doesNotContain("# default");
  }

  @Test
  void printsTheSourceOfEachValue() throws IOException {
    String file = file("grpc:\n  port: 7\n");
    Map<String, List<String>> flags =
        Options.of("--policies", "p", "--config", file, "--debug-port", "5");
    String yaml = new ConfigLoader(Map.of("PORT", "6")).load(flags).yaml();
    assertThat(yaml)
        .contains("  paths: [p]  # --policies\n")
        .contains("grpc:\n  host: \"0.0.0.0\"  # default\n")
        .contains("  port: 7  # " + file + ":2:9\n")
        .contains("  port: 6  # env PORT\n")
        .contains("  port: 5  # --debug-port\n");
  }

  @Test
  void printingMasksTheUserInfoOfAUrl() {
    LoadedConfig loaded =
        new ConfigLoader(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:hunter2@collector:4318"))
            .load(flags(null));
    assertThat(loaded.yaml()).contains("http://***@collector:4318").doesNotContain("hunter2");
    assertThat(Objects.requireNonNull(loaded.config()).telemetry().spanExport().endpoint())
        .contains("hunter2");
  }

  @Test
  void anErrorDoesNotShowAPassword() {
    LoadedConfig loaded =
        new ConfigLoader(Map.of("THROTTLEKIT_STORE_URI", "redis://:hunter2@r:x")).load(flags(null));
    assertThat(loaded.errors())
        .containsExactly(
            "env THROTTLEKIT_STORE_URI: \"redis://***@r:***\": each host is a name or an IP"
                + " address, then a port");
  }

  @Test
  void missingPoliciesAreReportedWithTheOptionToSetThem() {
    LoadedConfig loaded = new ConfigLoader(Map.of()).load(Map.of());
    assertThat(loaded.config()).isNull();
    assertThat(loaded.errors()).singleElement().asString().contains("--policies PATH");
  }

  @Test
  void theFileMayBeNamedByTheEnvironment() throws IOException {
    String file = file("policies: {paths: a}");
    assertThat(config(Map.of("THROTTLEKIT_CONFIG", file), Map.of()).policies().paths())
        .containsExactly(Path.of("a"));
  }

  @Test
  void variablesOfAKubernetesServiceNamedThrottlekitAreIgnored() {
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_SERVICE_HOST", "10.0.0.1",
            "THROTTLEKIT_PORT", "tcp://10.0.0.1:8081",
            "THROTTLEKIT_PORT_8081_TCP_ADDR", "10.0.0.1",
            "THROTTLEKIT_SERVICE_PORT_GRPC", "8081");
    assertThat(new ConfigLoader(environment).load(flags(null)).errors()).isEmpty();
  }

  @Test
  void variablesOfTheStartScriptAreIgnored() {
    Map<String, String> environment =
        Map.of("THROTTLEKIT_JAVA_OPTIONS", "-Xmx1g", "THROTTLEKIT_TRAIN_AFTER", "never");
    assertThat(new ConfigLoader(environment).load(flags(null)).errors()).isEmpty();
  }

  @Test
  void aPortOverwrittenByKubernetesIsReported() {
    assertThat(
            new ConfigLoader(Map.of("GRPC_PORT", "tcp://10.0.0.1:80")).load(flags(null)).errors())
        .singleElement()
        .asString()
        .startsWith("env GRPC_PORT: \"tcp://10.0.0.1:80\" is not a port")
        .contains("enableServiceLinks");
  }

  @Test
  void aMisspelledVariableIsAnErrorThatNamesTheNearest() {
    assertThat(
            new ConfigLoader(Map.of("THROTTLEKIT_COMPATIBILITY_CHARGE_REJECT", "true"))
                .load(flags(null))
                .errors())
        .containsExactly(
            "env THROTTLEKIT_COMPATIBILITY_CHARGE_REJECT: there is no such setting (did you mean"
                + " THROTTLEKIT_COMPATIBILITY_CHARGE_REJECTED?)");
  }

  @Test
  void tlsNeedsBothHalvesAndClientNamesNeedAnAuthority() {
    List<String> errors =
        new ConfigLoader(
                Map.of("THROTTLEKIT_GRPC_TLS_KEY", "k", "THROTTLEKIT_GRPC_TLS_CLIENT_SAN", "envoy"))
            .load(flags(null))
            .errors();
    assertThat(errors)
        .containsExactlyInAnyOrder(
            "env THROTTLEKIT_GRPC_TLS_KEY: grpc.tls.key needs grpc.tls.certificate",
            "env THROTTLEKIT_GRPC_TLS_CLIENT_SAN: grpc.tls.client_san needs grpc.tls.client_ca");
  }

  private ServiceConfig config(Map<String, String> environment, Map<String, List<String>> flags) {
    LoadedConfig loaded = new ConfigLoader(environment).load(flags);
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config());
  }

  private String file(String text) throws IOException {
    return Files.writeString(folder.resolve("config.yaml"), text).toString();
  }

  private static Map<String, List<String>> flags(@Nullable String grpcPort) {
    return Options.of("--policies", "policies", "--grpc-port", grpcPort);
  }

  private static Map<String, List<String>> flagsWithFile(String file) {
    return Options.of("--config", file);
  }

  /**
   * Returns a variable for every setting, with a value that is not the default where there is
   * another.
   */
  private static Map<String, String> everyField() {
    return Map.<String, String>ofEntries(
        Map.entry("THROTTLEKIT_POLICIES_PATHS", "a,b c"),
        Map.entry("THROTTLEKIT_POLICIES_RUNTIME_ROOT", "/data"),
        Map.entry("THROTTLEKIT_POLICIES_RUNTIME_SUBDIRECTORY", "s"),
        Map.entry("THROTTLEKIT_POLICIES_RUNTIME_APP_DIRECTORY", "a"),
        Map.entry("THROTTLEKIT_POLICIES_RUNTIME_WATCH_ROOT", "false"),
        Map.entry("THROTTLEKIT_POLICIES_RUNTIME_IGNORE_DOT_FILES", "false"),
        Map.entry("THROTTLEKIT_POLICIES_MERGE_DOMAINS", "false"),
        Map.entry("THROTTLEKIT_POLICIES_POLL_INTERVAL", "250ms"),
        Map.entry("THROTTLEKIT_POLICIES_REQUIRE_AT_START", "false"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_SERVER", "cp:1"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_NODE_ID", "n"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_NODE_METADATA", "a=b"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_HEADERS", "hunter2"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_TLS_ENABLED", "true"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_TLS_CA", "ca"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_TLS_SERVER_NAME", "s"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_TLS_CERTIFICATE", "c"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_TLS_KEY", "k"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_CONNECT_RETRY_INTERVAL", "2s"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_BACKOFF_INITIAL", "3s"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_BACKOFF_MAX", "4s"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_BACKOFF_GROWTH", "3"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_BACKOFF_JITTER", "0.25"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_MAX_MESSAGE_BYTES", "5000"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_FOLDER", "f"),
        Map.entry("THROTTLEKIT_POLICIES_XDS_OVERRIDES", "o"),
        Map.entry("THROTTLEKIT_GRPC_HOST", "::1"),
        Map.entry("THROTTLEKIT_GRPC_PORT", "1"),
        Map.entry("THROTTLEKIT_GRPC_UNIX_SOCKET", "/tmp/s"),
        Map.entry("THROTTLEKIT_GRPC_TLS_CERTIFICATE", "c.pem"),
        Map.entry("THROTTLEKIT_GRPC_TLS_KEY", "k.pem"),
        Map.entry("THROTTLEKIT_GRPC_TLS_CLIENT_CA", "ca.pem"),
        Map.entry("THROTTLEKIT_GRPC_TLS_CLIENT_SAN", "envoy.mesh"),
        Map.entry("THROTTLEKIT_GRPC_MAX_CONNECTION_AGE", "1h"),
        Map.entry("THROTTLEKIT_GRPC_MAX_CONNECTION_AGE_GRACE", "1m"),
        Map.entry("THROTTLEKIT_GRPC_MAX_CONNECTION_IDLE", "2m"),
        Map.entry("THROTTLEKIT_GRPC_KEEP_ALIVE_TIME", "30s"),
        Map.entry("THROTTLEKIT_GRPC_KEEP_ALIVE_TIMEOUT", "3s"),
        Map.entry("THROTTLEKIT_GRPC_PERMIT_KEEP_ALIVE_TIME", "7s"),
        Map.entry("THROTTLEKIT_GRPC_MAX_MESSAGE_BYTES", "4096"),
        Map.entry("THROTTLEKIT_GRPC_MAX_DESCRIPTORS", "10"),
        Map.entry("THROTTLEKIT_GRPC_MAX_ENTRY_BYTES", "1024"),
        Map.entry("THROTTLEKIT_GRPC_MAX_CONCURRENT_CALLS_PER_CONNECTION", "11"),
        Map.entry("THROTTLEKIT_GRPC_MAX_CONNECTIONS", "12"),
        Map.entry("THROTTLEKIT_GRPC_MAX_RESETS_PER_SECOND", "13"),
        Map.entry("THROTTLEKIT_GRPC_EVENT_LOOPS", "3"),
        Map.entry("THROTTLEKIT_GRPC_DRAIN_TIMEOUT", "4s"),
        Map.entry("THROTTLEKIT_GRPC_REFLECTION", "true"),
        Map.entry("THROTTLEKIT_GRPC_DRAIN_DELAY", "5s"),
        Map.entry("THROTTLEKIT_HTTP_HOST", "localhost"),
        Map.entry("THROTTLEKIT_HTTP_PORT", "2"),
        Map.entry("THROTTLEKIT_HTTP_JSON", "true"),
        Map.entry("THROTTLEKIT_HTTP_JSON_REFUNDS", "true"),
        Map.entry("THROTTLEKIT_HTTP_MAX_CONNECTIONS", "77"),
        Map.entry("THROTTLEKIT_DEBUG_HOST", "0.0.0.0"),
        Map.entry("THROTTLEKIT_DEBUG_PORT", "3"),
        Map.entry("THROTTLEKIT_METRICS_ADDRESS", ":9090"),
        Map.entry("THROTTLEKIT_METRICS_PATH", "/m"),
        Map.entry("THROTTLEKIT_METRICS_MAPPINGS", "m.yaml"),
        Map.entry("THROTTLEKIT_STORE_URI", "rediss-sentinel://a:1,[::1]:2/3#main"),
        Map.entry("THROTTLEKIT_STORE_USER", "me"),
        Map.entry("THROTTLEKIT_STORE_PASSWORD", "hunter2"),
        Map.entry("THROTTLEKIT_STORE_SENTINEL_USER", "me too"),
        Map.entry("THROTTLEKIT_STORE_SENTINEL_PASSWORD", "hunter2"),
        Map.entry("THROTTLEKIT_STORE_TLS_CA", "ca.pem"),
        Map.entry("THROTTLEKIT_STORE_TLS_CERTIFICATE", "c.pem"),
        Map.entry("THROTTLEKIT_STORE_TLS_KEY", "k.pem"),
        Map.entry("THROTTLEKIT_STORE_TLS_VERIFY_HOST", "false"),
        Map.entry("THROTTLEKIT_STORE_KEY_PREFIX", "rl:\"#"),
        Map.entry("THROTTLEKIT_STORE_DEADLINE", "7ms"),
        Map.entry("THROTTLEKIT_STORE_LEASE_DEADLINE", "3s"),
        Map.entry("THROTTLEKIT_STORE_CONNECT_TIMEOUT", "4s"),
        Map.entry("THROTTLEKIT_STORE_BREAKER_FAILURES", "6"),
        Map.entry("THROTTLEKIT_STORE_BREAKER_AFTER", "800ms"),
        Map.entry("THROTTLEKIT_STORE_BREAKER_PROBE_AFTER", "250ms"),
        Map.entry("THROTTLEKIT_STORE_MAX_LEASE_CELLS", "14"),
        Map.entry("THROTTLEKIT_STORE_LOCAL_SHARE", "0.5"),
        Map.entry("THROTTLEKIT_STORE_CACHED_DENY_DEFAULT", "true"),
        Map.entry("THROTTLEKIT_STORE_MAX_COUNTERS", "12"),
        Map.entry("THROTTLEKIT_FEDERATION_REGION", "eu-west_1.a"),
        Map.entry(
            "THROTTLEKIT_FEDERATION_COORDINATOR",
            "postgres://a,[::1]:2/li%6dits?schema=s&sslmode=verify-full"),
        Map.entry("THROTTLEKIT_FEDERATION_USER", "me"),
        Map.entry("THROTTLEKIT_FEDERATION_PASSWORD", "hunter2"),
        Map.entry("THROTTLEKIT_FEDERATION_SENTINEL_USER", "me too"),
        Map.entry("THROTTLEKIT_FEDERATION_SENTINEL_PASSWORD", "hunter2"),
        Map.entry("THROTTLEKIT_FEDERATION_TLS_CA", "ca2.pem"),
        Map.entry("THROTTLEKIT_FEDERATION_TLS_CERTIFICATE", "c2.pem"),
        Map.entry("THROTTLEKIT_FEDERATION_TLS_KEY", "k2.pem"),
        Map.entry("THROTTLEKIT_FEDERATION_TLS_VERIFY_HOST", "false"),
        Map.entry("THROTTLEKIT_FEDERATION_KEY_PREFIX", "tk2:"),
        Map.entry("THROTTLEKIT_FEDERATION_DEADLINE", "3s"),
        Map.entry("THROTTLEKIT_FEDERATION_PROBE_AFTER", "6s"),
        Map.entry("THROTTLEKIT_FEDERATION_REGIONAL_LEASES", "4"),
        Map.entry("THROTTLEKIT_CONCURRENCY_ACCESS_LOG", "false"),
        Map.entry("THROTTLEKIT_CONCURRENCY_MAX_SAMPLES_PER_SECOND", "15"),
        Map.entry("THROTTLEKIT_CONCURRENCY_LOAD_REPORTS", "false"),
        Map.entry("THROTTLEKIT_CONCURRENCY_LOAD_REPORT_INTERVAL", "200ms"),
        Map.entry("THROTTLEKIT_CONCURRENCY_ENVOY_HOLD", "16s"),
        Map.entry("THROTTLEKIT_CONCURRENCY_MAX_ENVOYS", "16"),
        Map.entry("THROTTLEKIT_CONCURRENCY_NODE_ID", "node-1"),
        Map.entry("THROTTLEKIT_SENSORS_LISTEN", ":17"),
        Map.entry("THROTTLEKIT_SENSORS_TLS_CERTIFICATE", "c3.pem"),
        Map.entry("THROTTLEKIT_SENSORS_TLS_KEY", "k3.pem"),
        Map.entry("THROTTLEKIT_SENSORS_TLS_CLIENT_CA", "ca3.pem"),
        Map.entry("THROTTLEKIT_SENSORS_IDENTITIES", "*.mesh.local,spiffe://mesh/edge/*"),
        Map.entry("THROTTLEKIT_SENSORS_BIND_NODE_ID", "true"),
        Map.entry("THROTTLEKIT_SENSORS_MAX_STREAMS", "18"),
        Map.entry("THROTTLEKIT_SENSORS_MAX_STREAMS_PER_CONNECTION", "19"),
        Map.entry("THROTTLEKIT_SENSORS_FILTER_ENABLED", "true"),
        Map.entry("THROTTLEKIT_SENSORS_FILTER_CLUSTER", "limits"),
        Map.entry("THROTTLEKIT_SENSORS_FILTER_TIMEOUT", "151ms"),
        Map.entry("THROTTLEKIT_SENSORS_FILTER_FAILURE_MODE_DENY", "true"),
        Map.entry("THROTTLEKIT_RESPONSE_HEADERS_ENABLED", "true"),
        Map.entry("THROTTLEKIT_RESPONSE_HEADERS_LIMIT", "X-Limit"),
        Map.entry("THROTTLEKIT_RESPONSE_HEADERS_REMAINING", "X-Remaining"),
        Map.entry("THROTTLEKIT_RESPONSE_HEADERS_RESET", "X-Reset"),
        Map.entry("THROTTLEKIT_RESPONSE_RETRY_AFTER", "false"),
        Map.entry("THROTTLEKIT_RESPONSE_STRUCTURED_HEADERS", "true"),
        Map.entry("THROTTLEKIT_RESPONSE_DENIED_BODY_CONTENT_TYPE", "application/json"),
        Map.entry("THROTTLEKIT_RESPONSE_DENIED_BODY_TEXT", "{\"error\": \"slow\ndöwn\"} # no"),
        Map.entry("THROTTLEKIT_RESPONSE_DYNAMIC_METADATA", "true"),
        Map.entry("THROTTLEKIT_COMPATIBILITY_CHARGE_REJECTED", "true"),
        Map.entry("THROTTLEKIT_COMPATIBILITY_SHADOW_MODE", "true"),
        Map.entry("THROTTLEKIT_COMPATIBILITY_QUOTA_MODE", "true"),
        Map.entry("THROTTLEKIT_TELEMETRY_PROMETHEUS", "true"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_METRICS", "true"),
        Map.entry("THROTTLEKIT_TELEMETRY_TRACING", "true"),
        Map.entry("THROTTLEKIT_TELEMETRY_SAMPLING_RATIO", "0.25"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_PROTOCOL", "grpc"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_ENDPOINT", "http://c:4317"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_HEADERS", "a=b"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TIMEOUT", "9s"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_COMPRESSION", "gzip"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_CA", "ca.pem"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_CERTIFICATE", "tls.crt"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_KEY", "tls.key"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TRACES_ENDPOINT", "https://t:4317"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TRACES_HEADERS", "a=b"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TRACES_TIMEOUT", "8s"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TRACES_COMPRESSION", "none"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TRACES_CA", "t.pem"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TRACES_CERTIFICATE", "t.crt"),
        Map.entry("THROTTLEKIT_TELEMETRY_OTLP_TRACES_KEY", "t.key"),
        Map.entry("THROTTLEKIT_TELEMETRY_SERVICE_NAME", "limits"),
        Map.entry("THROTTLEKIT_TELEMETRY_LOG_LEVEL", "debug"),
        Map.entry("THROTTLEKIT_TELEMETRY_LOG_FORMAT", "json"),
        Map.entry("THROTTLEKIT_TELEMETRY_NEAR_LIMIT_RATIO", "0.5"),
        Map.entry("THROTTLEKIT_TELEMETRY_MAX_SERIES", "13"),
        Map.entry("THROTTLEKIT_TELEMETRY_SERVICE_NAMESPACE", "ns"),
        Map.entry("THROTTLEKIT_TELEMETRY_SERVICE_INSTANCE", "p1"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_ENABLED", "true"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_HOST", "stats"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_PORT", "9125"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_PROTOCOL", "udp"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_FORMAT", "dogstatsd"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_TAGS", "a:b"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_REWRITES", "^a\\.(.*)$ b t:$1,u:v ; c d"),
        Map.entry("THROTTLEKIT_TELEMETRY_STATSD_FLUSH_INTERVAL", "5s"),
        Map.entry("THROTTLEKIT_TELEMETRY_REFUSAL_LOG_INTERVAL", "20s"),
        Map.entry("THROTTLEKIT_HEALTH_STORE_MUST_BE_REACHABLE", "true"),
        Map.entry("THROTTLEKIT_HEALTH_NEEDS_POLICIES", "true"),
        Map.entry("THROTTLEKIT_WARM_UP_REQUESTS", "0"),
        Map.entry("THROTTLEKIT_EXT_AUTHZ_DOMAIN", "a: b"),
        Map.entry(
            "THROTTLEKIT_EXT_AUTHZ_DESCRIPTORS",
            "[{entries: [{key: k, header: x-user, default: ''}, {key: m, attribute: method}]}]"),
        Map.entry("THROTTLEKIT_EXT_AUTHZ_UNDESCRIBED", "allow"));
  }
}
