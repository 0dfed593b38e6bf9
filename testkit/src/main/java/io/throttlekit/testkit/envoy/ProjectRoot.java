package io.throttlekit.testkit.envoy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The folder that holds the project's root POM. */
public final class ProjectRoot {
  private static final String MARK = "<module>envoy-config</module>";

  private ProjectRoot() {}

  /**
   * The system property {@code throttlekit.root} where it is set, else the nearest folder at or
   * above the working directory whose {@code pom.xml} is the root POM; null when there is none.
   */
  public static @Nullable Path find() {
    String property = System.getProperty("throttlekit.root", "");
    return property.isBlank() ? above(Path.of("").toAbsolutePath()) : Path.of(property);
  }

  static @Nullable Path above(Path start) {
    for (Path folder = start; folder != null; folder = folder.getParent()) {
      if (isRootPom(folder.resolve("pom.xml"))) {
        return folder;
      }
    }
    return null;
  }

  private static boolean isRootPom(Path pom) {
    try {
      return Files.isRegularFile(pom) && Files.readString(pom).contains(MARK);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
