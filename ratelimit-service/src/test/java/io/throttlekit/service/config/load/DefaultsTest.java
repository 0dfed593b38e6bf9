package io.throttlekit.service.config.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.ServiceConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the defaults of envoyproxy/ratelimit apply exactly while policies are read from its
 * folder.
 */
class DefaultsTest {

  private static final Map<String, List<String>> OWN = Options.of("--policies", "own");

  @Test
  void otherSettingsChangeOnlyThemselves(@TempDir Path folder) throws IOException {
    String file =
        Files.writeString(folder.resolve("c.yaml"), "warm_up: {requests: 7}\n").toString();
    Map<String, List<String>> flags = Options.of("--config", file, "--grpc-port", "1");
    Map<String, String> environment = Map.of("RUNTIME_ROOT", "/data", "THROTTLEKIT_HTTP_PORT", "2");
    ServiceConfig config = config(environment, flags);
    assertThat(config.warmUp().requests()).isEqualTo(7);
    assertThat(config.http().port()).isEqualTo(2);
    assertThat(config.compatibility().chargeRejected()).isTrue();
    assertThat(config.policies().mergeDomains()).isFalse();
    assertThat(config.response().retryAfter()).isFalse();
  }

  @Test
  void anExplicitSettingOverridesThePeersDefault(@TempDir Path folder) throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("c.yaml"),
            "compatibility: {charge_rejected: false}\nresponse: {retry_after: true}\n");
    Map<String, List<String>> flags = Options.of("--config", file.toString());
    ServiceConfig config = config(Map.of("RUNTIME_ROOT", "/data"), flags);
    assertThat(config.compatibility().chargeRejected()).isFalse();
    assertThat(config.response().retryAfter()).isTrue();
    assertThat(config.policies().mergeDomains()).isFalse();
  }

  @Test
  void policyPathsInTheFileKeepOurDefaults(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("c.yaml"), "policies: {paths: [p]}\n");
    Map<String, List<String>> flags = Options.of("--config", file.toString());
    ServiceConfig config = config(Map.of("RUNTIME_ROOT", "/data"), flags);
    assertThat(config.compatibility().chargeRejected()).isFalse();
    assertThat(config.telemetry().logLevel()).isEqualTo("info");
  }

  @Test
  void jsonIsServedWithoutRefundsOnlyAsADropIn() {
    ServiceConfig own = config(Map.of(), OWN);
    assertThat(own.http().json()).isFalse();
    ServiceConfig standsIn = config(Map.of("RUNTIME_ROOT", "/data"), Map.of());
    assertThat(standsIn.http().json()).isTrue();
    assertThat(standsIn.http().jsonRefunds()).isFalse();
    assertThat(config(Map.of("THROTTLEKIT_HTTP_JSON", "true"), OWN).http().json()).isTrue();
  }

  @Test
  void jsonIsOffIfGrpcRequiresClientCertificates() {
    Map<String, String> environment =
        Map.of(
            "RUNTIME_ROOT", "/data",
            "GRPC_SERVER_USE_TLS", "true",
            "GRPC_SERVER_TLS_CERT", "c",
            "GRPC_SERVER_TLS_KEY", "k",
            "GRPC_CLIENT_TLS_CACERT", "ca");
    LoadedConfig loaded = new ConfigLoader(environment).load(Map.of());
    assertThat(Objects.requireNonNull(loaded.config()).http().json()).isFalse();
    assertThat(loaded.warnings())
        .contains(
            "http.json (default of envoyproxy/ratelimit) has no effect: /json does not check client"
                + " certificates, which gRPC requires (grpc.tls.client_ca)");
  }

  @Test
  void reportsWhichDefaultsApplyAndWhy() {
    Map<String, String> environment = Map.of("RUNTIME_ROOT", "/data");
    assertThat(new ConfigLoader(environment).load(Map.of()).defaults())
        .isEqualTo(
            "the defaults of envoyproxy/ratelimit apply: policies are read where it reads them"
                + " (/data, env RUNTIME_ROOT), and policies.paths is not set");
    assertThat(new ConfigLoader(environment).load(OWN).defaults())
        .isEqualTo("the service's own defaults apply: policies are read from [own], --policies");
  }

  private static ServiceConfig config(
      Map<String, String> environment, Map<String, List<String>> flags) {
    LoadedConfig loaded = new ConfigLoader(environment).load(flags);
    assertThat(loaded.errors()).isEmpty();
    return Objects.requireNonNull(loaded.config());
  }
}
