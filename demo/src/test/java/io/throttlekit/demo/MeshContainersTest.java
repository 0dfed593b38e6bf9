package io.throttlekit.demo;

import static io.throttlekit.demo.DockerEngine.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.TimeSource;
import io.throttlekit.testkit.required.Requires;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the {@code Dockerfile} and {@code docker-compose.yml} in containers, without a registry:
 * {@link MeshImages} creates the base images.
 */
@Tag("process")
@Requires(DockerEngine.class)
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(3_600)
class MeshContainersTest {
  private static final String REQUEST =
      "{\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"anna\"}]}]}";
  private static final String POLICY =
      "domain: d\ndescriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 1}}]\n";
  private static final long MEBIBYTE = 1 << 20;

  private final TimeSource time = TimeSource.system();
  private Path folder;
  private MeshImages images;

  @BeforeAll
  void build(@TempDir Path temporary) throws IOException {
    folder = temporary;
    images = new MeshImages(folder);
  }

  @AfterAll
  void remove() throws IOException {
    images.close();
  }

  @Test
  void theServiceRunsWithoutRightsAndOnItsCache() throws Exception {
    String image = images.image("service");
    long added = bytes(image) - bytes(images.image("base"));
    assertThat(added).as("bytes that the image adds to its base").isLessThan(300 * MEBIBYTE);
    Path policies = Files.createDirectory(folder.resolve("policies"));
    Files.writeString(policies.resolve("p.yaml"), POLICY);
    for (String store : List.of("memory", "redis://127.0.0.1:1")) { // no server listens there
      assertStartsWithItsCache(image, policies, store);
    }
  }

  @Test
  void theCommandOfEnvoyproxyRatelimitServesWithItsVariables() throws Exception {
    Path policies = Files.createDirectory(folder.resolve("config"));
    Files.writeString(policies.resolve("p.yaml"), POLICY);
    String container =
        start(
            List.of("--user", "65534:65534", "--entrypoint", "/bin/ratelimit"),
            List.of("RUNTIME_ROOT=/data", "RUNTIME_SUBDIRECTORY=ratelimit", "USE_STATSD=false"),
            policies + ":/data/ratelimit/config:ro",
            images.image("service"));
    try {
      awaitHealthy(container);
      String address = run(List.of("docker", "port", container, "8080/tcp"));
      assertThat(decide(address)).contains("\"OK\"");
      assertThat(decide(address)).contains("\"OVER_LIMIT\"");
    } finally {
      var _ = run(List.of("docker", "rm", "--force", container));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mesh.yaml", "mesh.yaml postgres.yaml"})
  void threeRegionsAdmitExactlyTheLimitEvenWhenAReplicaStops(String overrides) throws Exception {
    List<String> files = List.of(overrides.split(" ", -1));
    try (ContainerMesh mesh = new ContainerMesh(images, files, folder);
        ContainerTraffic traffic = new ContainerTraffic(mesh.envoys(), time)) {
      assertPublishedOnLoopbackOnly();
      traffic.awaitAnswers();
      traffic.sendToAllUntilAWindowReachesTheLimit();
      assertThat(traffic.maxAdmitted()).as("%s", traffic).isEqualTo(traffic.limit());
      assertThat(traffic.admittedByRegion()).as("%s", traffic).allMatch(some -> some > 0);
      assertStopsInTime(mesh, traffic);
    }
    assertThat(containers()).isEmpty();
  }

  private static void assertStartsWithItsCache(String image, Path policies, String store)
      throws Exception {
    String container =
        start(
            List.of("--tmpfs", "/tmp"),
            List.of(
                "THROTTLEKIT_STORE_URI=" + store,
                "THROTTLEKIT_HTTP_JSON=true",
                // so that the JVM does not start if it cannot use the cache
                "THROTTLEKIT_JAVA_OPTIONS=-XX:AOTMode=on"),
            policies + ":/etc/throttlekit/policies:ro",
            image);
    try {
      awaitHealthy(container);
      assertThat(run(List.of("docker", "exec", container, "id", "-u"))).isEqualTo("10001");
      assertThat(run(List.of("docker", "exec", container, "cat", "/proc/1/cmdline")))
          .contains("-XX:AOTCache=/opt/throttlekit/.aot/");
      if (store.equals("memory")) {
        String address = run(List.of("docker", "port", container, "8080/tcp"));
        assertThat(decide(address)).contains("\"OK\"");
        assertThat(decide(address)).contains("\"OVER_LIMIT\"");
      }
      var _ = run(List.of("docker", "stop", container));
      assertThat(inspect("{{.State.ExitCode}}", container)).isEqualTo("0");
    } finally {
      var _ = run(List.of("docker", "rm", "--force", container));
    }
  }

  /** Starts a container with a read-only root, and publishes its port 8080. */
  private static String start(
      List<String> options, List<String> environment, String volume, String image)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("docker", "run", "--detach", "--read-only"));
    command.addAll(List.of("--publish", "127.0.0.1::8080", "--volume", volume));
    command.addAll(options);
    environment.forEach(variable -> command.addAll(List.of("--env", variable)));
    command.add(image);
    return run(command);
  }

  private static void awaitHealthy(String container) {
    await().until(() -> inspect("{{.State.Health.Status}}", container).equals("healthy"));
  }

  /** A replica is stopped while it holds leased units; the other continues within the limit. */
  private void assertStopsInTime(ContainerMesh mesh, ContainerTraffic traffic) throws Exception {
    String replica = mesh.containers("throttlekit-" + MeshScenario.REGIONS.getFirst()).getFirst();
    long window = traffic.sendSomeInANewWindow(0);
    var _ = run(List.of("docker", "stop", replica)); // 137 if it was killed after the grace period
    assertThat(inspect("{{.State.ExitCode}}", replica)).isEqualTo("0");
    long admitted = traffic.sendUntilTheLimitIsReached(0, window);
    assertThat(admitted).as("%s", traffic).isGreaterThan(ContainerTraffic.SOME);
    assertThat(traffic.maxAdmitted()).as("%s", traffic).isEqualTo(traffic.limit());
  }

  private void assertPublishedOnLoopbackOnly() throws IOException {
    List<String> ports =
        containers().stream()
            .flatMap(line -> Stream.of(line.split("[ ,]+")))
            .filter(port -> port.contains("->"))
            .toList();
    assertThat(ports)
        .hasSize(MeshScenario.REGIONS.size())
        .allMatch(port -> port.startsWith("127.0.0.1:"));
  }

  /** Returns the name and the published ports of each container of the images. */
  private List<String> containers() throws IOException {
    return run(List.of(
            "docker",
            "ps",
            "--all",
            "--filter",
            "label=throttlekit-test=" + images.tag(),
            "--format",
            "{{.Names}} {{.Ports}}"))
        .lines()
        .toList();
  }

  private static long bytes(String image) throws IOException {
    return Long.parseLong(inspect("{{.Size}}", image));
  }

  private static String inspect(String format, String what) throws IOException {
    return run(List.of("docker", "inspect", "--format", format, what));
  }

  private static String decide(String address) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + address + "/json"))
            .POST(BodyPublishers.ofString(REQUEST))
            .build();
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request, BodyHandlers.ofString()).body();
    }
  }
}
