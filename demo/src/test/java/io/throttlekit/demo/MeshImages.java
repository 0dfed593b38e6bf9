package io.throttlekit.demo;

import static io.throttlekit.demo.ComposeFile.PROJECT;
import static io.throttlekit.demo.DockerEngine.run;

import io.throttlekit.testkit.envoy.EnvoyProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The images of the mesh, all built locally: the service from the {@code Dockerfile}, Envoy, and
 * Debian's Redis and PostgreSQL. {@link #close} removes them.
 */
final class MeshImages implements AutoCloseable {
  static final Path FILES = Path.of("src", "test", "docker").toAbsolutePath();
  private static final String NAME = "throttlekit-test/";

  private final String tag = UUID.randomUUID().toString();
  private final String label = "throttlekit-test=" + tag;
  private final Path folder;
  private final List<String> images = new ArrayList<>();

  /** Builds all images, in {@code folder}. */
  MeshImages(Path folder) throws IOException {
    this.folder = folder;
    try {
      String plain = load("base", DebianRoot.archive("base"));
      String stores = load("stores", DebianRoot.archive("stores", "redis-server", "postgresql-15"));
      build("service", service(), plain);
      build("envoy", envoy(), plain);
      build("redis", FILES.resolve("redis"), stores);
      build("postgres", FILES.resolve("postgres"), stores);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Returns the tag of all images. */
  String tag() {
    return tag;
  }

  /** Returns the full name of an image. */
  String image(String name) {
    return NAME + name + ":" + tag;
  }

  private String load(String name, Path archive) throws IOException {
    images.add(image(name));
    run(List.of("docker", "import", "--change", "LABEL " + label, archive.toString(), image(name)));
    return image(name);
  }

  private void build(String name, Path context, String base) throws IOException {
    images.add(image(name));
    run(
        List.of(
            "docker",
            "build",
            "--force-rm",
            "--build-arg",
            "BASE=" + base,
            "--tag",
            image(name),
            context.toString()));
  }

  /** Builds the service image with the output of the build stage, created on this machine. */
  private Path service() throws IOException {
    Path context = Files.createDirectory(folder.resolve("service"));
    Path opt = Files.createDirectory(context.resolve("opt"));
    run(
        List.of(
            PROJECT.resolve("deploy/image/assemble").toString(),
            opt.resolve("throttlekit").toString(),
            opt.resolve("java").toString()),
        Map.of("JAVA_HOME", System.getProperty("java.home")));
    String dockerfile = Files.readString(PROJECT.resolve("Dockerfile"));
    int stage = dockerfile.indexOf("FROM ${BUILDER} AS build");
    int next = dockerfile.indexOf("FROM ${BASE}");
    Files.writeString(
        context.resolve("Dockerfile"),
        dockerfile.substring(0, stage)
            + "FROM scratch AS build\nLABEL %s\nCOPY opt /image\n".formatted(label)
            + dockerfile.substring(next));
    return context;
  }

  private Path envoy() throws IOException {
    Path context = Files.createDirectory(folder.resolve("envoy"));
    Files.copy(FILES.resolve("envoy/Dockerfile"), context.resolve("Dockerfile"));
    Files.copy(EnvoyProgram.path(), context.resolve("envoy"));
    return context;
  }

  /** Removes the images, and the remains of building them. */
  @Override
  public void close() throws IOException {
    try (Undo undo = new Undo()) {
      undo.push(() -> {
        var _ = run(List.of("docker", "image", "prune", "--force", "--filter", "label=" + label));
      });
      for (String image : images) { // in reverse order of their creation
        undo.push(() -> {
          var _ =
              run(
                  List.of(
                      "sh", "-c", "! docker inspect $0 >/dev/null 2>&1 || docker rmi $0", image));
        });
      }
    }
  }
}
