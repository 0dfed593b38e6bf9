package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.Options;
import io.throttlekit.service.server.Book;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolicyWarningsTest {
  private static final String LIMITS =
      """
      domain: ext-authz
      descriptors:
        - {key: a, concurrency: {gate: envoy, cluster: up}}
        - {key: b, concurrency: {gate: envoy, cluster: up, circuit_breaker: high}}
        - {key: c, concurrency: {gate: envoy, cluster: down}}
        - {key: d, concurrency: {}}
        - {key: e, rate_limit: {unit: day, requests_per_unit: 1}}
      """;

  @TempDir private Path folder;

  @Test
  void anUnknownDomainOfExtAuthzIsAWarning() throws Exception {
    assertThat(
            loggedLines(
                "ext_authz: {domain: ext-auth, descriptors: [{entries: [{key: k, value: v}]}]}"))
        .containsExactly(
            "WARNING no policy has the domain `ext-auth` (did you mean ext-authz?):"
                + " ext_authz.domain names it, and Checks fail");
    assertThat(
            loggedLines(
                "ext_authz: {domain: shop, descriptors: [{entries: [{key: k, value: v}]}]}"))
        .containsExactly(
            "WARNING no policy has the domain `shop`: ext_authz.domain names it, and Checks fail");
    assertThat(
            loggedLines(
                "ext_authz: {domain: ext-authz, descriptors: [{entries: [{key: k, value: v}]}]}"))
        .isEmpty();
    assertThat(loggedLines("ext_authz: {descriptors: [{entries: [{key: k, value: v}]}]}"))
        .isEmpty();
    assertThat(loggedLines("{}")).isEmpty();
  }

  @Test
  void clustersThatThisProcessDoesNotControlAreLoggedOnce() throws Exception {
    assertThat(loggedLines("compatibility: {shadow_mode: true}"))
        .containsExactly(
            "INFO cluster up is not controlled by this process (compatibility.shadow_mode: true)",
            "INFO cluster down is not controlled by this process (compatibility.shadow_mode:"
                + " true)");
  }

  @Test
  void pingsThatTheServiceDoesNotPermitAreAWarning() throws Exception {
    assertThat(loggedLines("grpc: {permit_keep_alive_time: 3s}"))
        .containsExactly(
            "WARNING grpc.permit_keep_alive_time is above 2 s, the interval at which Envoys should"
                + " ping with gate: envoy (docs/CONCURRENCY-LIMITS.md): they are disconnected again"
                + " and again");
    assertThat(loggedLines("grpc: {permit_keep_alive_time: 2s}")).isEmpty();
  }

  private List<String> loggedLines(String yaml) throws Exception {
    Path file = Files.writeString(folder.resolve("throttlekit.yaml"), yaml + "\n");
    Map<String, List<String>> flags =
        Options.of("--policies", folder.toString(), "--config", file.toString());
    ServiceConfig config = Objects.requireNonNull(new ConfigLoader(Map.of()).load(flags).config());
    try (Logged logged = Logged.by(PolicyWarnings.class)) {
      PolicyWarnings.log(config, Book.of(LIMITS));
      return logged.lines();
    }
  }
}
