package io.throttlekit.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.source.PolicySource;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The objects that the chart's examples render to, also where no Helm can be had. */
class GoldenManifestsTest {
  static List<String> examples() throws IOException {
    return Chart.examples();
  }

  private static List<Manifest> golden(String example) throws IOException {
    return Manifest.readAll(Files.readString(Chart.golden(example)));
  }

  @Test
  void theGoldenFilesAreOfThisChart() throws IOException {
    assertThat(Chart.examples()).hasSizeGreaterThanOrEqualTo(8);
    assertThat(Files.readString(Chart.goldenDigest()).strip())
        .as("the chart has changed: see RenderedChartTest for how to render the golden files")
        .isEqualTo(Chart.digest());
  }

  @ParameterizedTest
  @MethodSource("examples")
  void kubernetesAcceptsEveryObject(String example) throws IOException {
    KubernetesModels models = new KubernetesModels();
    Set<String> names = new HashSet<>();
    for (Manifest manifest : golden(example)) {
      String name = manifest.kind() + " " + manifest.name();
      assertThat(models.mistake(manifest)).as(name).isNull();
      assertThat(names.add(name)).as("a second %s", name).isTrue();
      assertThat(manifest.text("metadata", "namespace")).as(name).isEqualTo("edge");
      assertThat(manifest.name()).as(name).hasSizeLessThanOrEqualTo(63);
    }
  }

  @Test
  void inPlaceOfEnvoyproxyRatelimitItsDefaultsApply() throws IOException {
    Map<String, String> there = new TreeMap<>();
    Manifest settings =
        new Manifest(
            Manifest.readMap(
                Chart.PROJECT.resolve(
                    "ratelimit-service/src/main/resources/service-settings.yaml")));
    for (String table : settings.map("settings").keySet()) {
      for (String setting : settings.map("settings", table).keySet()) {
        String peer = settings.text("settings", table, setting, "peer_default");
        if (!peer.isEmpty()) {
          there.put(setting, peer);
        }
      }
    }
    assertThat(there).containsKeys("compatibility.charge_rejected", "http.json");
    Manifest config = new Manifest(config(golden("migration")));
    Manifest ours = new Manifest(config(golden("redis")));
    there.forEach((setting, peer) -> {
      String[] path = setting.split("\\.");
      assertThat(config.text(path)).as(setting).isEqualTo(peer);
      assertThat(ours.text(path)).as(setting).isEmpty();
    });
  }

  @ParameterizedTest
  @MethodSource("examples")
  void noPodHasMoreRightsThanItNeeds(String example) throws IOException {
    List<Manifest> pods = pods(golden(example));
    assertThat(pods).hasSizeGreaterThanOrEqualTo(2); // with that of `helm test`
    for (Manifest pod : pods) {
      assertThat(pod.map()).containsEntry("automountServiceAccountToken", false);
      assertThat(pod.map()).containsEntry("enableServiceLinks", false);
      assertThat(pod.map("securityContext")).containsEntry("runAsNonRoot", true);
      assertThat(pod.text("securityContext", "seccompProfile", "type")).isEqualTo("RuntimeDefault");
      for (Manifest container : pod.list("containers")) {
        assertThat(container.map("securityContext"))
            .containsEntry("allowPrivilegeEscalation", false)
            .containsEntry("readOnlyRootFilesystem", true);
        assertThat(container.map("securityContext", "capabilities").get("drop"))
            .isEqualTo(List.of("ALL"));
        assertThat(container.map("resources")).containsKeys("requests", "limits");
      }
    }
    assertThat(
            deployment(golden(example))
                .text("spec", "template", "spec", "securityContext", "runAsUser"))
        .isEqualTo("10001"); // the user of the image
  }

  @ParameterizedTest
  @MethodSource("examples")
  void everySelectorFindsThePodsOfTheServiceAlone(String example) throws IOException {
    List<Manifest> manifests = golden(example);
    Map<String, Object> service =
        deployment(manifests).map("spec", "template", "metadata", "labels");
    int selectors = 0;
    for (Manifest manifest : manifests) {
      if (manifest.name().endsWith("-redis")) {
        continue;
      }
      for (Map<String, Object> selector :
          List.of(
              manifest.map("spec", "selector", "matchLabels"),
              manifest.map("spec", "podSelector", "matchLabels"),
              manifest.kind().equals("Service")
                  ? manifest.map("spec", "selector")
                  : Map.<String, Object>of())) {
        if (selector.isEmpty()) {
          continue;
        }
        selectors++;
        assertThat(service).as(manifest.kind()).containsAllEntriesOf(selector);
        for (Manifest other : others(manifests)) {
          assertThat(other.map("metadata", "labels").entrySet().containsAll(selector.entrySet()))
              .as("%s of %s finds the pods of %s", manifest.kind(), manifest.name(), other.name())
              .isFalse();
        }
      }
    }
    assertThat(selectors).isGreaterThanOrEqualTo(2); // Deployment, Service
  }

  /** A ServiceMonitor finds Services, the others pods. */
  private static List<Manifest> others(List<Manifest> manifests) {
    return manifests.stream()
        .filter(each -> each.name().contains("-redis") || each.kind().equals("Pod"))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void everyVolumeIsMountedAndEveryObjectOfTheChartExists(String example) throws IOException {
    List<Manifest> manifests = golden(example);
    Manifest deployment = deployment(manifests);
    Manifest pod = new Manifest(deployment.map("spec", "template", "spec"));
    Set<String> mounted = new TreeSet<>();
    for (Manifest container : pod.list("containers")) {
      container.list("volumeMounts").forEach(mount -> mounted.add(mount.text("name")));
      for (Manifest mount : container.list("volumeMounts")) {
        assertThat(mount.text("subPath")).as("files of a subPath never change").isEmpty();
      }
    }
    Set<String> volumes = new TreeSet<>();
    Set<String> configMaps = new TreeSet<>();
    for (Manifest volume : pod.list("volumes")) {
      volumes.add(volume.text("name"));
      configMaps.add(volume.text("configMap", "name"));
      volume
          .list("projected", "sources")
          .forEach(source -> configMaps.add(source.text("configMap", "name")));
    }
    assertThat(mounted).isEqualTo(volumes).contains("config", "tmp");
    assertThat(manifests)
        .filteredOn(each -> each.kind().equals("ConfigMap"))
        .filteredOn(each -> !each.name().contains("-dashboard-"))
        .allSatisfy(each -> assertThat(configMaps).contains(each.name()));
  }

  @ParameterizedTest
  @MethodSource("examples")
  void probesReadWhatTheServiceServesAndDoNotRestartItForAStore(String example) throws IOException {
    Manifest container = container(golden(example));
    Set<String> ports = new TreeSet<>();
    container.list("ports").forEach(port -> ports.add(port.text("name")));
    assertThat(ports).contains("grpc", "http", "metrics");
    Map<String, String> paths =
        Map.of("startupProbe", "/startupz", "readinessProbe", "/readyz", "livenessProbe", "/livez");
    paths.forEach((probe, path) -> {
      assertThat(container.text(probe, "httpGet", "path")).isEqualTo(path);
      assertThat(container.text(probe, "httpGet", "port")).isIn(ports);
    });
    assertThat(Integer.parseInt(container.text("livenessProbe", "timeoutSeconds")))
        .as("the service waits 2 s for its event loops")
        .isGreaterThan(2);
    for (Manifest service : golden(example)) {
      if (service.kind().equals("Service") && !service.name().endsWith("-redis")) {
        service
            .list("spec", "ports")
            .forEach(port -> assertThat(port.text("targetPort")).isIn(ports));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("examples")
  void everyPolicyLoads(String example) throws IOException {
    PolicyLoader loader = new PolicyLoader(new LoadOptions(true));
    for (Manifest manifest : golden(example)) {
      if (manifest.kind().equals("ConfigMap") && manifest.name().endsWith("-policies")) {
        assertThat(manifest.map("data")).isNotEmpty();
        for (String file : manifest.map("data").keySet()) {
          var loaded = loader.load(List.of(new PolicySource(file, manifest.text("data", file))));
          assertThat(loaded.problems()).as(file).isEmpty();
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("examples")
  void thePodIsNotKilledBeforeItHasReturnedItsLeases(String example) throws IOException {
    List<Manifest> manifests = golden(example);
    Manifest config = new Manifest(config(manifests));
    int draining =
        seconds(config.text("grpc", "drain_delay")) + seconds(config.text("grpc", "drain_timeout"));
    assertThat(draining).isPositive();
    assertThat(
            Integer.parseInt(
                deployment(manifests)
                    .text("spec", "template", "spec", "terminationGracePeriodSeconds")))
        .isGreaterThanOrEqualTo(draining + 10);
  }

  private static int seconds(String duration) {
    return Integer.parseInt(duration.replace("s", ""));
  }

  @ParameterizedTest
  @MethodSource("examples")
  void everySettingAndVariableIsOneOfTheService(String example) throws IOException {
    List<Manifest> manifests = golden(example);
    String documented = Files.readString(Chart.PROJECT.resolve("docs/CONFIGURATION.md"));
    Set<String> settings = new TreeSet<>();
    leaves("", config(manifests), settings);
    assertThat(settings).contains("grpc.port", "http.port", "metrics.address");
    List<String> variables = new ArrayList<>();
    for (Manifest variable : container(manifests).list("env")) {
      String name = variable.text("name");
      if (name.startsWith("THROTTLEKIT_") && !name.equals("THROTTLEKIT_JAVA_OPTIONS")) {
        variables.add(name);
      }
      if (name.matches(".*(PASSWORD|URI|COORDINATOR)")) {
        assertThat(variable.map("valueFrom", "secretKeyRef")).as(name).containsKeys("name", "key");
      }
    }
    for (String setting : settings) {
      assertThat(documented).contains("| `" + setting + "` |");
    }
    Set<String> known = new TreeSet<>();
    documented
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.substring(3, line.indexOf('`', 3)))
        .forEach(setting -> known.add(variable(setting)));
    assertThat(known).containsAll(variables);
  }

  private static String variable(String setting) {
    return "THROTTLEKIT_" + setting.replace('.', '_').toUpperCase(Locale.ROOT);
  }

  private static void leaves(String prefix, Map<String, Object> map, Set<String> into) {
    map.forEach((name, value) -> {
      if (value instanceof Map<?, ?>) {
        leaves(prefix + name + ".", new Manifest(map).map(name), into);
      } else {
        into.add(prefix + name);
      }
    });
  }

  private static Map<String, Object> config(List<Manifest> manifests) {
    String text =
        manifests.stream()
            .filter(each -> each.kind().equals("ConfigMap") && each.name().endsWith("-config"))
            .map(each -> each.text("data", "config.yaml"))
            .findFirst()
            .orElseThrow();
    return Manifest.readMap(text);
  }

  private static Manifest container(List<Manifest> manifests) {
    return deployment(manifests).list("spec", "template", "spec", "containers").getFirst();
  }

  private static Manifest deployment(List<Manifest> manifests) {
    return manifests.stream()
        .filter(each -> each.kind().equals("Deployment") && !each.name().endsWith("-redis"))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the specs of all pods. */
  private static List<Manifest> pods(List<Manifest> manifests) {
    List<Manifest> pods = new ArrayList<>();
    for (Manifest manifest : manifests) {
      switch (manifest.kind()) {
        case "Deployment" -> pods.add(new Manifest(manifest.map("spec", "template", "spec")));
        case "Pod" -> pods.add(new Manifest(manifest.map("spec")));
        default -> {}
      }
    }
    return pods;
  }
}
