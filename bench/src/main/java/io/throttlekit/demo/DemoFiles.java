package io.throttlekit.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;

/** The files of the demo: those that come with it, and those that it writes. */
public final class DemoFiles {
  private DemoFiles() {}

  /**
   * A file that comes with the demo.
   *
   * @param name where it lies, seen from this class
   */
  public static String text(String name) throws IOException {
    try (InputStream file = DemoFiles.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** A new folder, deleted with everything in it in the end. */
  public static Path folder(Undo started) throws IOException {
    Path folder = Files.createTempDirectory("throttlekit-demo");
    started.push(() -> delete(folder));
    return folder;
  }

  /** Deletes a folder with everything in it. */
  static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
