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
  /** How long the filters of the demo's Envoys wait, as all examples recommend. */
  static final String FILTER_TIMEOUT = "0.1s";

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

  /**
   * An Envoy's bootstrap that comes with the demo.
   *
   * @param filterTimeout how long its rate limit filter waits, in place of {@link #FILTER_TIMEOUT}
   */
  static String bootstrap(String name, String filterTimeout) throws IOException {
    return text(name).replace(" timeout: " + FILTER_TIMEOUT, " timeout: " + filterTimeout);
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
