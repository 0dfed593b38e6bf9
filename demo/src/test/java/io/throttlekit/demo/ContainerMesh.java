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
 * The regions and the coordinator of {@code docker-compose.yml} in containers of images that a test
 * has made. Gone with {@link #close}, with their networks and volumes.
 */
final class ContainerMesh implements AutoCloseable {
  private static final List<String> REGIONS = MeshScenario.REGIONS;

  private final List<String> compose;
  private final Map<String, String> environment;

  /**
   * Starts them, and waits until all are healthy that others wait for.
   *
   * @param overrides files of {@link MeshImages#FILES} that are laid over the one of the project
   * @param folder for what the containers are given
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
            patientGateway(folder).toString(),
            "PORT_EU",
            "0", // any that is free
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

  /** An answer that Envoy does not wait for is a unit that is spent and that no client has got. */
  private static Path patientGateway(Path folder) throws IOException {
    String usual = Files.readString(PROJECT.resolve("deploy/mesh/envoy.yaml"));
    return Files.writeString(
        folder.resolve("gateway.yaml"), usual.replace("timeout: 0.1s", "timeout: 5s"));
  }

  /** Of the Envoys, by place in {@link MeshScenario#REGIONS}. */
  List<URI> envoys() throws IOException {
    List<URI> envoys = new ArrayList<>();
    for (String region : REGIONS) {
      String container = containers("envoy-" + region).getFirst();
      envoys.add(URI.create("http://" + run(List.of("docker", "port", container, "10000/tcp"))));
    }
    return envoys;
  }

  /** The containers of a service. */
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
