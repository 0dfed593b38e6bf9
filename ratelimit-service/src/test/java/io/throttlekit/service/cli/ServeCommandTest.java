package io.throttlekit.service.cli;

import static io.throttlekit.service.cli.CommandResult.run;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.Logged;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.policies.PolicyReloader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServeCommandTest {
  @TempDir private Path folder;

  @Test
  void serveWithInvalidConfigurationPrintsEveryErrorAndExitsWith2() {
    CommandResult ran =
        run(Map.of("PORT", "x"), "serve", "--policies", "p", "--grpc-port", "70000");
    assertThat(ran.code()).isEqualTo(2);
    assertThat(ran.err().lines())
        .containsExactly(
            "error: env PORT: \"x\" is not a port (a whole number from 0 to 65535, 0 for any free"
                + " one)",
            "error: --grpc-port: \"70000\" is not a port (a whole number from 0 to 65535, 0 for any"
                + " free one)");
  }

  @Test
  void malformedPoliciesAreNotReportedAsMissing() {
    assertThat(run("serve", "--policies", "").err())
        .isEqualTo("error: --policies: \"\" is not a list of paths\n");
    assertThat(run("serve").err())
        .startsWith("error: --policies: no policies: give --policies PATH");
  }

  @Test
  void printConfigShowsTheEffectiveConfigurationAndStartsNothing() {
    CommandResult ran =
        run(
            Map.of("REDIS_URL", "redis://:pw@r:1"),
            "serve",
            "--policies",
            "/nowhere",
            "--print-config",
            "--http-port",
            "0");
    assertThat(ran.code()).isZero();
    assertThat(ran.out())
        .startsWith("policies:\n  paths: [/nowhere]  # --policies\n")
        .contains("port: 0  # --http-port")
        .contains("  uri: \"redis://***@r:1\"  # env REDIS_URL")
        .containsPattern("\n# runtime in effect: heap of at most \\d+ MiB, collector \\w+");
    assertThat(ran.err()).isEmpty();
  }

  @Test
  void printConfigShowsWhatTheProgramChoseForTheProcessAndWhatIsInEffect() {
    ServiceConfig config = ConfigLoader.defaults();
    List<String> lines = RuntimeComments.lines("memory: 256 MiB (memory.max)|heap: 96|", config);
    assertThat(lines)
        .startsWith("# runtime: memory: 256 MiB (memory.max)", "# runtime: heap: 96")
        .allMatch(line -> line.startsWith("# runtime"))
        .anyMatch(line -> line.matches(".* \\d+ processors, \\d+ event loops"))
        .anyMatch(line -> line.endsWith("or 8 to a PostgreSQL"))
        .hasSize(5);
    assertThat(RuntimeComments.lines("", config)).hasSize(3);
  }

  @Test
  void aDryRunPrintsTheStoreAndFailsLikeTheService() throws IOException {
    String good = Files.writeString(folder.resolve("good.yaml"), "domain: a\n").toString();
    String bad = Files.writeString(folder.resolve("bad.yaml"), "domain: [\n").toString();
    String config =
        Files.writeString(folder.resolve("c.yaml"), "store: {uri: 'redis://r:1'}\n").toString();
    assertThat(run("serve", "--dry-run", "--policies", good).out()).isEqualTo("memory\n");
    assertThat(run("serve", "--dry-run", "--policies", good, "--store", "redis://r").out())
        .isEqualTo("shared\n");
    assertThat(run("serve", "--dry-run", "--policies", good, "--config", config).out())
        .isEqualTo("shared\n");
    try (Logged _ = Logged.by(PolicyReloader.class)) {
      for (CommandResult refused :
          List.of(
              run("serve", "--dry-run", "--policies", bad),
              run("serve", "--dry-run", "--policies", good, "--store", "http://x"),
              run("serve", "--dry-run", "--policies", good, "--sotre", "memory"),
              run("serve", "--dry-run"))) {
        assertThat(refused.code()).isPositive();
        assertThat(refused.out()).isEmpty();
      }
    }
  }

  @Test
  void aDryRunAcceptsGlobalRulesOnlyWithACoordinator() throws IOException {
    String limit = "{unit: day, requests_per_unit: 5, scope: global}";
    String text = "domain: shop\ndescriptors: [{key: user, rate_limit: " + limit + "}]\n";
    String policies = Files.writeString(folder.resolve("global.yaml"), text).toString();
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      assertThat(run("serve", "--dry-run", "--policies", policies).code()).isEqualTo(1);
      assertThat(logged.lines())
          .anySatisfy(line ->
              assertThat(line)
                  .contains(policies + ":2:80: error: scope: global needs --coordinator and"));
    }
    CommandResult federated =
        run(
            "serve",
            "--dry-run",
            "--policies",
            policies,
            "--region",
            "eu",
            "--coordinator",
            "memory");
    assertThat(federated.out()).isEqualTo("memory\n");
  }

  @Test
  void printConfigShowsFederationWithoutPasswords() {
    CommandResult ran =
        run(
            Map.of("THROTTLEKIT_FEDERATION_PROBE_AFTER", "7s"),
            "serve",
            "--policies",
            "/nowhere",
            "--print-config",
            "--region",
            "eu",
            "--coordinator",
            "postgresql://me:hunter2@a,b:1/limits?sslmode=require");
    assertThat(ran.code()).isZero();
    assertThat(ran.out())
        .contains("federation:\n  region: eu  # --region\n")
        .contains(
            "  coordinator: \"postgresql://***@a:5432,b:1/limits?sslmode=require\""
                + "  # --coordinator\n")
        .contains("  deadline: 2s  # default\n")
        .contains("  probe_after: 7s  # env THROTTLEKIT_FEDERATION_PROBE_AFTER\n")
        .contains("  regional_leases: 2  # default\n")
        .doesNotContain("hunter2");
  }
}
