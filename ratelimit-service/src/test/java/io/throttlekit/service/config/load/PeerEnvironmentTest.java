package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.HttpConfig.DebugConfig;
import io.throttlekit.service.config.HttpConfig.MetricsConfig;
import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.TlsConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class PeerEnvironmentTest {

  private static final Map<String, List<String>> OWN = Options.of("--policies", "own");

  static Stream<Arguments> aliases() {
    return Stream.of(
        alias("HOST", "10.0.0.1", c -> c.http().host(), "10.0.0.1"),
        alias("PORT", "81", c -> c.http().port(), 81),
        alias("DEBUG_HOST", "0.0.0.0", c -> c.debug().host(), "0.0.0.0"),
        alias("DEBUG_PORT", "82", c -> c.debug().port(), 82),
        alias("GRPC_HOST", "::", c -> c.grpc().host(), "::"),
        alias("GRPC_PORT", "83", c -> c.grpc().port(), 83),
        alias("GRPC_UDS", "/run/rl.sock", c -> path(c.grpc().unixSocket()), "/run/rl.sock"),
        alias(
            "GRPC_MAX_CONNECTION_AGE",
            "90m",
            c -> c.grpc().connectionAge().most(),
            Duration.ofMinutes(90)),
        alias(
            "GRPC_MAX_CONNECTION_AGE_GRACE",
            "150us",
            c -> c.grpc().connectionAge().grace(),
            Duration.ofNanos(150_000)),
        alias("LOG_LEVEL", "WARNING", c -> c.telemetry().logLevel(), "warn"),
        alias("LOG_LEVEL", "FATAL", c -> c.telemetry().logLevel(), "error"),
        alias("LOG_FORMAT", "json", c -> c.telemetry().logFormat(), "json"),
        alias("MERGE_DOMAIN_CONFIG", "T", c -> c.policies().mergeDomains(), true),
        alias("MERGE_DOMAIN_CONFIG", "0", c -> c.policies().mergeDomains(), false),
        alias("NEAR_LIMIT_RATIO", "0.5", c -> c.telemetry().nearLimitRatio(), 0.5),
        alias("LIMIT_RESPONSE_HEADERS_ENABLED", "1", c -> c.response().headers().enabled(), true),
        alias("LIMIT_LIMIT_HEADER", "X-L", c -> c.response().headers().limit(), "X-L"),
        alias("LIMIT_REMAINING_HEADER", "X-M", c -> c.response().headers().remaining(), "X-M"),
        alias("LIMIT_RESET_HEADER", "X-R", c -> c.response().headers().reset(), "X-R"),
        alias(
            "HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED",
            "true",
            c -> c.health().needsPolicies(),
            true),
        alias(
            "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION",
            "true",
            c -> c.health().storeMustBeReachable(),
            true),
        alias("CACHE_KEY_PREFIX", "rl:", c -> c.store().keyPrefix(), "rl:"),
        alias("REDIS_TIMEOUT", "3s", c -> c.store().deadlines().connect(), Duration.ofSeconds(3)),
        alias("LOCAL_CACHE_SIZE_IN_BYTES", "1", c -> c.store().cachedDenyDefault(), true),
        alias("LOCAL_CACHE_SIZE_IN_BYTES", "0", c -> c.store().cachedDenyDefault(), false),
        alias("SHADOW_MODE", "True", c -> c.compatibility().shadowMode(), true),
        alias("QUOTA_MODE", "TRUE", c -> c.compatibility().quotaMode(), true),
        alias("RESPONSE_DYNAMIC_METADATA", "t", c -> c.response().dynamicMetadata(), true),
        alias("USE_PROMETHEUS", "false", c -> c.telemetry().prometheus(), false),
        alias("PROMETHEUS_ADDR", ":99", PeerEnvironmentTest::metrics, "0.0.0.0:99/metrics"),
        alias("TRACING_ENABLED", "true", c -> c.telemetry().tracing(), true),
        alias("TRACING_SERVICE_NAMESPACE", "ns", c -> c.telemetry().serviceNamespace(), "ns"),
        alias("TRACING_SERVICE_INSTANCE_ID", "p1", c -> c.telemetry().serviceInstance(), "p1"),
        alias(
            "PROMETHEUS_MAPPER_YAML",
            "/m.yaml",
            c -> path(c.telemetry().metricMappings()),
            "/m.yaml"),
        alias("TRACING_SERVICE_NAME", "rl", c -> c.telemetry().serviceName(), "rl"),
        alias(
            "TRACING_EXPORTER_PROTOCOL",
            "grpc",
            c -> c.telemetry().spanExport().protocol(),
            "grpc"),
        alias("TRACING_SAMPLING_RATE", "0.1", c -> c.telemetry().samplingRatio(), 0.1),
        alias(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://c:4318",
            c -> c.telemetry().spanExport().endpoint(),
            "http://c:4318/v1/traces"),
        alias(
            "FORCE_START_WITHOUT_INITIAL_CONFIG",
            "true",
            c -> c.policies().requireAtStart(),
            false),
        alias(
            "FORCE_START_WITHOUT_INITIAL_CONFIG",
            "true",
            c -> c.health().readyWithoutPolicies(),
            true));
  }

  @ParameterizedTest(name = "{0}={1}")
  @MethodSource("aliases")
  void aVariableOfEnvoyproxyRatelimitHasTheSameEffect(
      String name, String value, Function<ServiceConfig, Object> field, Object expected) {
    assertThat(field.apply(config(Map.of(name, value), OWN))).isEqualTo(expected);
    assertThat(field.apply(dropIn(Map.of(name, value)))).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "PORT,a port",
    "DEBUG_PORT,a port",
    "GRPC_PORT,a port",
    "GRPC_MAX_CONNECTION_AGE,a duration",
    "GRPC_MAX_CONNECTION_AGE_GRACE,a duration",
    "LOG_LEVEL,one of trace",
    "LOG_FORMAT,one of text",
    "MERGE_DOMAIN_CONFIG,true or false",
    "NEAR_LIMIT_RATIO,a number from 0 to 1",
    "LIMIT_RESPONSE_HEADERS_ENABLED,true or false",
    "LIMIT_LIMIT_HEADER,the name of an HTTP header",
    "LIMIT_REMAINING_HEADER,the name of an HTTP header",
    "LIMIT_RESET_HEADER,the name of an HTTP header",
    "HOST,a host name",
    "GRPC_HOST,a host name",
    "DEBUG_HOST,a host name",
    "HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED,true or false",
    "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION,true or false",
    "SHADOW_MODE,true or false",
    "QUOTA_MODE,true or false",
    "RESPONSE_DYNAMIC_METADATA,true or false",
    "USE_PROMETHEUS,true or false",
    "PROMETHEUS_ADDR,HOST:PORT",
    "PROMETHEUS_PATH,a path that begins",
    "TRACING_ENABLED,true or false",
    "TRACING_EXPORTER_PROTOCOL,one of http",
    "TRACING_SAMPLING_RATE,a number from 0 to 1",
    "OTEL_EXPORTER_OTLP_ENDPOINT,an http or https URL",
    "FORCE_START_WITHOUT_INITIAL_CONFIG,true or false",
    "GRPC_SERVER_USE_TLS,true or false",
    "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT,true or false",
    "RUNTIME_WATCH_ROOT,true or false",
    "RUNTIME_IGNOREDOTFILES,true or false",
    "REDIS_TIMEOUT,a duration",
    "REDIS_TLS,true or false",
    "CACHE_KEY_PREFIX,at most 100 printable",
    "LOCAL_CACHE_SIZE_IN_BYTES,a whole number",
    "CONFIG_TYPE,'one of FILE, GRPC_XDS_SOTW'",
    "BACKEND_TYPE,one of redis"
  })
  void aMalformedValueIsReportedWithVariableAndSyntax(String name, String expected) {
    assertThat(new ConfigLoader(Map.of(name, "a b?")).load(OWN).errors())
        .singleElement()
        .asString()
        .startsWith("env " + name + ": \"")
        .containsIgnoringCase("a b?\" is not " + expected);
  }

  @Test
  void withOnlyThePeersEnvironmentItsDefaultsApply() {
    ServiceConfig config = dropIn(Map.of());
    assertThat(config.compatibility()).isEqualTo(new CompatibilityConfig(true, false, false));
    assertThat(config.policies().mergeDomains()).isFalse();
    assertThat(config.policies().requireAtStart()).isFalse();
    assertThat(config.response().headers()).isEqualTo(ConfigLoader.defaults().response().headers());
    assertThat(config.response().retryAfter()).isFalse();
    assertThat(config.response().structuredHeaders()).isFalse();
    assertThat(config.response().dynamicMetadata()).isFalse();
    assertThat(config.grpc().port()).isEqualTo(8081);
    assertThat(config.http().port()).isEqualTo(8080);
    assertThat(config.debug()).isEqualTo(new DebugConfig("127.0.0.1", 6070));
    assertThat(config.grpc().connectionAge().most()).isEqualTo(Duration.ofHours(24));
    assertThat(config.telemetry().logLevel()).isEqualTo("warn");
  }

  @Test
  void policiesSetInOurOwnTermsKeepOurDefaults() {
    Map<String, String> environment = new HashMap<>(Map.of("RUNTIME_ROOT", "/data"));
    assertThat(config(environment, OWN).compatibility().chargeRejected()).isFalse();
    environment.put("THROTTLEKIT_POLICIES_PATHS", "p");
    assertThat(config(environment, Map.of()).compatibility().chargeRejected()).isFalse();
    assertThat(config(environment, Map.of()).policies().paths()).containsExactly(Path.of("p"));
  }

  @Test
  void chargingRefusalsIsDisabledByEitherVariable() {
    assertThat(chargeRejected("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "true")).isFalse();
    assertThat(chargeRejected("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "false")).isTrue();
    assertThat(chargeRejected("THROTTLEKIT_COMPATIBILITY_CHARGE_REJECTED", "false")).isFalse();
  }

  @Test
  void notStoppingAtTheLimitIsOurDefault() {
    Map<String, String> environment = Map.of("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", "false");
    assertThat(config(environment, OWN).compatibility().chargeRejected()).isFalse();
  }

  @Test
  void anEmptyVariableIsIgnored() {
    assertThat(dropIn(Map.of("GRPC_PORT", "", "GRPC_UDS", "")).grpc().port()).isEqualTo(8081);
  }

  @Test
  void policiesAreReadFromThePeersFolder() {
    assertThat(dropIn(Map.of("RUNTIME_SUBDIRECTORY", "ratelimit")).policies().runtime())
        .isEqualTo(new RuntimeFolder(Path.of("/data"), "ratelimit", "config", true, true));
    assertThat(
            dropIn(
                    Map.of(
                        "RUNTIME_APPDIRECTORY", "limits",
                        "RUNTIME_WATCH_ROOT", "false",
                        "RUNTIME_IGNOREDOTFILES", "false"))
                .policies()
                .runtime())
        .isEqualTo(new RuntimeFolder(Path.of("/data"), "", "limits", false, false));
    assertThat(config(Map.of("RUNTIME_SUBDIRECTORY", "x"), Map.of()).policies().runtime())
        .isEqualTo(
            new RuntimeFolder(Path.of("/srv/runtime_data/current"), "x", "config", true, true));
  }

  @Test
  void aRuntimeRootInTheFileOverridesThePeersDefault(@TempDir Path folder) throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("c.yaml"), "policies: {runtime: {root: /own, subdirectory: s}}\n");
    Map<String, String> environment = Map.of("RUNTIME_SUBDIRECTORY", "x");
    Map<String, List<String>> flags = Options.of("--config", file.toString());
    assertThat(config(environment, flags).policies().runtime())
        .isEqualTo(new RuntimeFolder(Path.of("/own"), "x", "config", true, true));
  }

  @Test
  void certificatesCountOnlyWhenTlsIsUsed() {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "GRPC_SERVER_TLS_CERT", "c",
                "GRPC_SERVER_TLS_KEY", "k",
                "GRPC_CLIENT_TLS_CACERT", "ca",
                "GRPC_CLIENT_TLS_SAN", "envoy"));
    assertThat(dropIn(environment).grpc().tls()).isNull();
    environment.put("GRPC_SERVER_USE_TLS", "true");
    assertThat(dropIn(environment).grpc().tls())
        .isEqualTo(new TlsConfig(Path.of("c"), Path.of("k"), Path.of("ca"), "envoy"));
  }

  @Test
  void tlsWithoutACertificateIsAnError() {
    assertThat(new ConfigLoader(Map.of("GRPC_SERVER_USE_TLS", "true")).load(OWN).errors())
        .containsExactly(
            "env GRPC_SERVER_USE_TLS: needs GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY");
  }

  @ParameterizedTest
  @CsvSource({
    "CONFIG_TYPE, Flie, FILE",
    "CONFIG_TYPE, grpc_xds, ''",
    "CONFIG_TYPE, GRPC_XDS_STOW, GRPC_XDS_SOTW",
    "BACKEND_TYPE, rediss, redis",
    "REDIS_TLS, ture, true",
    "LOG_LEVEL, WRAN, warn",
    "SHADOW_MODE, ture, true"
  })
  void aMisspeltValueIsShownWithASuggestion(String name, String value, String meant) {
    assertThat(new ConfigLoader(Map.of(name, value)).load(OWN).errors())
        .singleElement()
        .asString()
        .startsWith("env " + name + ": \"" + value + "\" is not ")
        .matches(error ->
            error.contains("did you mean")
                ? error.endsWith("(did you mean " + meant + "?)")
                : meant.isEmpty());
  }

  @Test
  void prometheusHasItsOwnListenerIfEnabled() {
    assertThat(dropIn(Map.of()).metrics()).isNull();
    assertThat(dropIn(Map.of("USE_PROMETHEUS", "true")).metrics())
        .isEqualTo(new MetricsConfig("0.0.0.0", 9090, "/metrics"));
    assertThat(dropIn(Map.of("USE_PROMETHEUS", "true", "PROMETHEUS_PATH", "/m")).metrics())
        .isEqualTo(new MetricsConfig("0.0.0.0", 9090, "/m"));
  }

  @Test
  void variablesWithoutEffectAreListedInOneLineWithReasons() {
    LoadedConfig loaded =
        new ConfigLoader(
                Map.of(
                    "REDIS_AUTH", "hunter2",
                    "REDIS_SOCKET_TYPE", "tcp",
                    "LOCAL_CACHE_SIZE_IN_BYTES", "1000000",
                    "USE_DOG_STATSD", "false",
                    "OTEL_EXPORTER_OTLP_INSECURE", "true",
                    "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318",
                    "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "true",
                    "PATH", "/bin"))
            .load(OWN);
    assertThat(loaded.errors()).isEmpty();
    assertThat(loaded.warnings())
        .containsExactly(
            "set but without effect here: LOCAL_CACHE_SIZE_IN_BYTES (counters are in memory"
                + " already); REDIS_HEALTH_CHECK_ACTIVE_CONNECTION (counters are in memory, which"
                + " is always reachable); REDIS_AUTH, REDIS_SOCKET_TYPE (counters are in the memory"
                + " of this process: store.uri is memory); OTEL_EXPORTER_OTLP_INSECURE (the scheme"
                + " of the endpoint selects TLS)");
  }

  @Test
  void ourStoreHealthSettingIsReportedAsWithoutEffectInMemory() {
    String variable = "THROTTLEKIT_HEALTH_STORE_MUST_BE_REACHABLE";
    assertThat(new ConfigLoader(Map.of(variable, "true")).load(OWN).warnings())
        .containsExactly(
            "health.store_must_be_reachable (env THROTTLEKIT_HEALTH_STORE_MUST_BE_REACHABLE) has no"
                + " effect: counters are in memory, which is always reachable");
    assertThat(new ConfigLoader(Map.of(variable, "false")).load(OWN).warnings()).isEmpty();
  }

  @Test
  void anEffectiveEnvironmentCausesNoWarning() {
    Map<String, String> environment =
        Map.of("USE_STATSD", "false", "PORT", "1", "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "false");
    assertThat(new ConfigLoader(environment).load(OWN).warnings()).isEmpty();
  }

  private static boolean chargeRejected(String name, String value) {
    return dropIn(Map.of(name, value)).compatibility().chargeRejected();
  }

  static ServiceConfig dropIn(Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.put("RUNTIME_ROOT", "/data");
    return config(environment, Map.of());
  }

  static ServiceConfig config(Map<String, String> environment, Map<String, List<String>> flags) {
    LoadedConfig loaded = new ConfigLoader(environment).load(flags);
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config());
  }

  private static Arguments alias(
      String name, String value, Function<ServiceConfig, Object> field, Object expected) {
    return Arguments.of(name, value, field, expected);
  }

  private static String metrics(ServiceConfig config) {
    MetricsConfig metrics = Objects.requireNonNull(config.metrics());
    return metrics.host() + ":" + metrics.port() + metrics.path();
  }

  private static String path(@Nullable Path path) {
    return String.valueOf(path);
  }
}
