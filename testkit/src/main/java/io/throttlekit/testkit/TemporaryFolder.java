package io.throttlekit.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Temporary folders of programs that tests start. */
public final class TemporaryFolder {
  private TemporaryFolder() {}

  /** Deletes a folder with its content, as far as possible; has no effect if it does not exist. */
  public static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      // Reverse order: files before the folders that contain them.
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException _) {
      // the rest stays until the operating system cleans up
    }
  }
}
