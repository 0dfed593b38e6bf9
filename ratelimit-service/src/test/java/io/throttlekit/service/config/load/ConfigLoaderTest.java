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
  void theListenerForSensorsHasTheDefaultBoundsOfConnectionsResetsAndFrames() {
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
    LoadedConfig first = new ConfigLoader(EveryField.environment()).load(Map.of());
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
    Map<String, String> environment = EveryField.environment();
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
            "env THROTTLEKIT_STORE_URI: \"redis://***@r:***\": after the colon a port has to"
                + " follow, a number from 1 to 65535; what is there is shown as ***, as it could be"
                + " a password");
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
  void variablesOfTheStartScriptAreIgnored() {
    Map<String, String> environment =
        Map.of("THROTTLEKIT_JAVA_OPTIONS", "-Xmx1g", "THROTTLEKIT_TRAIN_AFTER", "never");
    assertThat(new ConfigLoader(environment).load(flags(null)).errors()).isEmpty();
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
}
