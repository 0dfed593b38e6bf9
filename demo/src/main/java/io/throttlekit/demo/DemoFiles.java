package io.throttlekit.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;

/** The resources of the demo, and its temporary files. */
public final class DemoFiles {
  /** The filter timeout of the demo's Envoys, as in all examples. */
  public static final String FILTER_TIMEOUT = "0.1s";

  private DemoFiles() {}

  /**
   * Reads a resource of the demo.
   *
   * @param name path relative to this class
   */
  public static String text(String name) throws IOException {
    try (InputStream file = DemoFiles.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /**
   * Reads an Envoy bootstrap.
   *
   * @param filterTimeout timeout of its rate limit filter, instead of {@link #FILTER_TIMEOUT}
   */
  public static String bootstrap(String name, String filterTimeout) throws IOException {
    return text(name).replace(" timeout: " + FILTER_TIMEOUT, " timeout: " + filterTimeout);
  }

  /** Creates a temporary folder, which is deleted at the end with its content. */
  public static Path folder(Undo started) throws IOException {
    Path folder = Files.createTempDirectory("throttlekit-demo");
    started.push(() -> delete(folder));
    return folder;
  }

  /** Deletes a folder with its content. */
  static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      // Reverse order: files before the folders that contain them.
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
