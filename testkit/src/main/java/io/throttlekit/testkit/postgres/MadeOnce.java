package io.throttlekit.testkit.postgres;

import io.throttlekit.testkit.TemporaryFolder;
import io.throttlekit.testkit.envoy.ProjectRoot;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Folders below {@code target} that the first JVM of a build makes for all of them; the others
 * wait. A folder appears under its name by a rename, so it is never seen half made. Outside the
 * project each JVM makes its own.
 */
final class MadeOnce {
  private MadeOnce() {}

  /** Fills a new folder. */
  @FunctionalInterface
  interface Maker {
    void fill(Path folder) throws IOException;
  }

  /** Returns the folder of a name; at most one thread of a JVM may need one at a time. */
  static Path folder(String name, Maker maker) throws IOException {
    Path root = ProjectRoot.find();
    if (root == null) {
      Path own = filled(Files.createTempDirectory(name), maker);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> TemporaryFolder.delete(own)));
      return own;
    }
    Path all = Files.createDirectories(root.resolve("target").resolve("postgres"));
    Path folder = all.resolve(name);
    try (FileChannel channel =
            FileChannel.open(
                all.resolve("lock-" + name), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = channel.lock()) {
      if (!Files.exists(folder)) {
        Path made = filled(Files.createTempDirectory(all, "making"), maker);
        Files.move(made, folder, StandardCopyOption.ATOMIC_MOVE);
      }
    }
    return folder;
  }

  private static Path filled(Path folder, Maker maker) throws IOException {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    maker.fill(folder);
    return folder;
  }
}
