package io.throttlekit.demo;

import static io.throttlekit.demo.DockerEngine.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The root file system of a Debian, created from its packages once for all builds until a clean.
 */
final class DebianRoot {
  private static final Path FOLDER = Path.of("target", "debian").toAbsolutePath();
  private static final String RELEASE = "bookworm";

  /** The mirror from which this machine installs that release; empty if it is unknown. */
  private static final String MIRROR =
      "apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main'"
          + " 'Codename: "
          + RELEASE
          + "' 2>/dev/null | head -n 1";

  private DebianRoot() {}

  /**
   * Returns an archive of it.
   *
   * @param name cache key of the archive
   * @param packages in addition to the base system
   */
  static Path archive(String name, String... packages) throws IOException {
    Path archive = FOLDER.resolve(name + ".tar");
    if (Files.exists(archive)) {
      return archive;
    }
    Path work = Files.createTempDirectory(Files.createDirectories(FOLDER), name + "-");
    try {
      Path root = work.resolve("root");
      Path whole = work.resolve("root.tar");
      run(debootstrap(root, packages));
      // Downloaded packages are left out, as in a slim image.
      run(
          List.of(
              "tar",
              "-C",
              root.toString(),
              "--exclude=./var/cache/apt/archives/*.deb",
              "--exclude=./var/lib/apt/lists/*",
              "--exclude=./usr/share/doc/*",
              "-cf",
              whole.toString(),
              "."));
      return Files.move(whole, archive, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      run(List.of("rm", "-rf", "--one-file-system", work.toString()));
    }
  }

  private static List<String> debootstrap(Path root, String... packages) throws IOException {
    List<String> command = new ArrayList<>(List.of("debootstrap", "--variant=minbase"));
    if (packages.length > 0) {
      command.add("--include=" + String.join(",", packages));
    }
    command.addAll(List.of(RELEASE, root.toString()));
    String mirror = run(List.of("sh", "-c", MIRROR));
    if (!mirror.isEmpty()) {
      command.add(mirror);
    }
    return command;
  }
}
