package io.throttlekit.demo;

import static io.throttlekit.demo.ComposeFile.PROJECT;
import static io.throttlekit.demo.DockerEngine.run;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The regions and the coordinator of {@code docker-compose.yml} in containers of images built by a
 * test. {@link #close} removes them with their networks and volumes.
 */
final class ContainerMesh implements AutoCloseable {
  private static final List<String> REGIONS = MeshScenario.REGIONS;

  private final List<String> compose;
  private final Map<String, String> environment;

  /**
   * Starts the containers, and waits until all on which others depend are healthy.
   *
   * @param overrides files of {@link MeshImages#FILES} that are layered over the project's
   * @param folder for files that are mounted into containers
   */
  ContainerMesh(MeshImages images, List<String> overrides, Path folder) throws IOException {
    compose = new ArrayList<>(DockerEngine.compose());
    compose.addAll(List.of("--project-name", "throttlekit-" + images.tag()));
    compose.addAll(List.of("--file", PROJECT.resolve("docker-compose.yml").toString()));
    overrides.forEach(
        file -> compose.addAll(List.of("--file", MeshImages.FILES.resolve(file).toString())));
    environment =
        Map.of(
            "TAG",
            images.tag(),
            "GATEWAY",
            gatewayWithLongTimeout(folder).toString(),
            "PORT_EU",
            "0", // any free one
            "PORT_US",
            "0",
            "PORT_AP",
            "0");
    try {
      List<String> up = new ArrayList<>(List.of("up", "--no-build", "--detach"));
      REGIONS.forEach(region -> up.add("envoy-" + region));
      var _ = compose(up);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** If Envoy times out, a unit is spent that no client receives: hence the long timeout. */
  private static Path gatewayWithLongTimeout(Path folder) throws IOException {
    String usual = Files.readString(PROJECT.resolve("deploy/mesh/envoy.yaml"));
    return Files.writeString(
        folder.resolve("gateway.yaml"), usual.replace("timeout: 0.1s", "timeout: 5s"));
  }

  /** Returns the addresses of the Envoys, by index in {@link MeshScenario#REGIONS}. */
  List<URI> envoys() throws IOException {
    List<URI> envoys = new ArrayList<>();
    for (String region : REGIONS) {
      String container = containers("envoy-" + region).getFirst();
      envoys.add(URI.create("http://" + run(List.of("docker", "port", container, "10000/tcp"))));
    }
    return envoys;
  }

  /** Returns the containers of a service. */
  List<String> containers(String service) throws IOException {
    return compose(List.of("ps", "--quiet", service))
        .lines()
        .filter(line -> line.matches("[0-9a-f]{12,}"))
        .toList();
  }

  private String compose(List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(compose);
    command.addAll(arguments);
    return run(command, environment);
  }

  @Override
  public void close() throws IOException {
    var _ = compose(List.of("down", "--volumes", "--timeout", "1"));
  }
}
