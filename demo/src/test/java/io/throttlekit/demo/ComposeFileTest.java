package io.throttlekit.demo;

import static io.throttlekit.demo.ComposeFile.PROJECT;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.demo.ComposeFile.Service;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.envoy.RealEnvoy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code docker-compose.yml} and the files of its services. */
@RealEnvoy
class ComposeFileTest {
  private static final List<String> IN_A_REGION =
      List.of("envoy", "throttlekit", "redis", "upstream", "way");
  private static final Set<String> SHARED =
      Set.of("coordinator", "otel-collector", "jaeger", "prometheus", "grafana", "traffic");

  /** They have no health check, and no service waits for them. */
  private static final Set<String> WITHOUT_HEALTH = Set.of("otel-collector", "traffic");

  private static final Pattern TARGET = Pattern.compile("envoy-[a-z]+:9901|throttlekit-[a-z]+");

  /** A published port, which a variable may override. */
  private static final Pattern PUBLISHED =
      Pattern.compile("127\\.0\\.0\\.1:\\$\\{PORT_[A-Z]+:-(\\d+)}:\\d+");

  @TempDir private Path folder;
  private Map<String, Service> services = Map.of();
  private Map<String, Object> root = Map.of();

  @BeforeEach
  void read() throws IOException {
    ComposeFile file = ComposeFile.read();
    services = file.services();
    root = file.root();
  }

  @Test
  void hasThreeEqualRegionsAndTheSharedServices() {
    Set<String> expected = new TreeSet<>(SHARED);
    for (String region : MeshScenario.REGIONS) {
      IN_A_REGION.forEach(member -> expected.add(member + "-" + region));
      Service service = service("throttlekit-" + region);
      assertThat(ComposeFile.map(service.properties().get("deploy"))).containsEntry("replicas", 2);
      assertThat(service.list("command"))
          .containsSubsequence("--region", region)
          .containsSubsequence("--store", "redis://redis:6379")
          .containsSubsequence("--coordinator", "redis://coordinator:6379");
      assertThat(alike(service, region)).isEqualTo(alike(service("throttlekit-eu"), "eu"));
    }
    assertThat(services.keySet()).isEqualTo(expected);
    assertThat(service("coordinator").list("command"))
        .containsSubsequence("--appendonly", "yes")
        .containsSubsequence("--appendfsync", "always");
  }

  private static String alike(Service service, String region) {
    return service.properties().toString().replaceAll("\\b" + region + "\\b", "REGION");
  }

  @Test
  void everyImageIsPinnedOrBuiltHere() {
    services.forEach((name, service) -> {
      if (service.text("build").isEmpty()) {
        assertThat(service.text("image")).as(name).matches("[a-z/-]+:v?\\d+\\.\\d+.*");
      } else {
        assertThat(PROJECT.resolve(service.text("build")).resolve("Dockerfile")).exists();
      }
    });
  }

  @Test
  void everyImageOfTheDockerfileIsPinned() throws IOException {
    List<String> bases =
        images("^ARG (?:BASE|BUILDER)=(\\S+)", Files.readString(PROJECT.resolve("Dockerfile")));
    assertThat(bases).hasSize(2).allMatch(base -> base.matches("[a-z]+:\\d+\\.\\d+.*"));
    assertThat(images("^FROM (\\S+)", Files.readString(PROJECT.resolve("Dockerfile"))))
        .containsExactly("${BUILDER}", "${BASE}", "${BASE}");
  }

  private static List<String> images(String pattern, String dockerfile) {
    return Pattern.compile(pattern, Pattern.MULTILINE)
        .matcher(dockerfile)
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  @Test
  void theImagesOfTheContainerTestReplaceThoseOfServices() throws IOException {
    for (String overrides : List.of("mesh.yaml", "postgres.yaml")) {
      ComposeFile file =
          new ComposeFile(ComposeFile.map(ComposeFile.yaml(MeshImages.FILES.resolve(overrides))));
      assertThat(file.services().keySet()).isNotEmpty().isSubsetOf(services.keySet());
    }
  }

  @Test
  void everyFileThatIsMountedExists() {
    List<Path> mounted =
        services.values().stream()
            .flatMap(service -> service.list("volumes").stream())
            .filter(volume -> volume.startsWith("."))
            .map(volume -> PROJECT.resolve(volume.substring(0, volume.indexOf(':'))))
            .toList();
    assertThat(mounted).hasSizeGreaterThan(10).allSatisfy(file -> assertThat(file).exists());
  }

  @Test
  void nothingIsPublishedButOnLoopback() {
    Set<String> published =
        services.values().stream()
            .flatMap(service -> service.list("ports").stream())
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(published).allMatch(port -> port.startsWith("127.0.0.1:"));
    assertThat(published)
        .extracting(port -> PUBLISHED.matcher(port).replaceFirst("$1"))
        .containsExactlyInAnyOrder("10001", "10002", "10003", "16686", "9090", "3000");
  }

  @Test
  void everyDependencyHasAHealthCheck() throws IOException {
    assertThat(Files.readString(PROJECT.resolve("Dockerfile"))).contains("\nHEALTHCHECK ");
    services.forEach((name, service) -> {
      boolean tells = !service.text("healthcheck").isEmpty() || !service.text("build").isEmpty();
      assertThat(tells).as(name).isEqualTo(!WITHOUT_HEALTH.contains(name));
      assertThat(service.names("depends_on"))
          .as("dependencies of %s", name)
          .isSubsetOf(services.keySet())
          .doesNotContainAnyElementsOf(WITHOUT_HEALTH);
    });
  }

  @Test
  void everyNetworkExistsAndRegionsReachTheCoordinatorOnlyByTheirProxy() {
    Set<String> networks = ComposeFile.map(root.get("networks")).keySet();
    services.forEach((name, service) -> {
      assertThat(networks).as(name).containsAll(service.names("networks"));
      boolean far = name.startsWith("way-") || name.equals("coordinator");
      assertThat(service.names("networks").contains("far")).as(name).isEqualTo(far);
    });
  }

  @Test
  void prometheusScrapesTheServiceAndTheEnvoyOfEachRegion() throws IOException {
    String file = Files.readString(PROJECT.resolve("deploy/mesh/prometheus.yaml"));
    Set<String> targets =
        TARGET
            .matcher(file.replaceAll("job_name.*", ""))
            .results()
            .map(MatchResult::group)
            .map(target -> target.replace(":9901", ""))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(targets).hasSize(2 * MeshScenario.REGIONS.size()).isSubsetOf(services.keySet());
  }

  /** Prometheus would ignore a rule whose metric does not exist. */
  @Test
  void prometheusAlertsOnMetricsThatExist() throws IOException {
    assertThat(Files.readString(PROJECT.resolve("deploy/mesh/prometheus.yaml")))
        .contains("rule_files: [/etc/prometheus/alerts.yml]");
    assertThat(Files.readString(PROJECT.resolve("docker-compose.yml")))
        .contains("./deploy/mesh/alerts.yaml:/etc/prometheus/alerts.yml:ro");
    String rules = ComposeFile.yaml(PROJECT.resolve("deploy/mesh/alerts.yaml")).toString();
    assertThat(rules).contains("rate(envoy_cluster_ratelimit_failure_mode_allowed[2m])");
    String metrics = Files.readString(PROJECT.resolve("docs/METRICS.md"));
    Set<String> named =
        Pattern.compile("throttlekit_\\w+")
            .matcher(rules)
            .results()
            .map(MatchResult::group)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(named)
        .contains(
            "throttlekit_abandoned_requests_total",
            "throttlekit_shed_requests_total",
            "throttlekit_store_up",
            "throttlekit_policy_last_load_ok");
    assertThat(named).allSatisfy(metric -> assertThat(metrics).contains("| `" + metric));
  }

  @Test
  void thePolicyLoadsAndIsThatOfTheDemo() throws IOException {
    Path policy = PROJECT.resolve("deploy/mesh/policies/mesh.yaml");
    MeshScenario usual = MeshScenario.within(MeshScenario.USUAL_SECONDS);
    assertThat(ComposeFile.yaml(policy).toString())
        .isEqualTo(ComposeFile.yaml(MeshDemo.policy(usual, folder)).toString());
    assertThat(DemoPolicy.read(policy)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"envoy", "upstream", "way"})
  void envoyAcceptsItsFiles(String name) throws IOException {
    String bootstrap = Files.readString(PROJECT.resolve("deploy/mesh/" + name + ".yaml"));
    assertThat(EnvoyProcess.validate(EnvoyProgram.path(), bootstrap, folder)).isEmpty();
  }

  @Test
  void envoyAnswersItsHealthCheck() throws Exception {
    String bootstrap = Files.readString(PROJECT.resolve("deploy/mesh/upstream.yaml"));
    String anyPorts = bootstrap.replaceAll("port_value: \\d+", "port_value: 0");
    List<String> asked =
        new Service(ComposeFile.map(service("envoy-eu").properties().get("healthcheck")))
            .list("test");
    assertThat(asked).startsWith("CMD", "bash", "-c").hasSize(4);
    try (EnvoyProcess envoy = EnvoyProcess.start(EnvoyProgram.path(), anyPorts, folder)) {
      String address = Files.readString(folder.resolve("admin-address")).strip();
      String script = asked.getLast().replace("127.0.0.1/9901", address.replace(':', '/'));
      assertThat(script).isNotEqualTo(asked.getLast());
      assertThat(DockerEngine.run(List.of("bash", "-c", script))).as(envoy.log()).isEmpty();
    }
  }

  private Service service(String name) {
    assertThat(services).containsKey(name);
    return services.getOrDefault(name, new Service(Map.of()));
  }
}
