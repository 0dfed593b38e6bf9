package io.throttlekit.testkit.image;

import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;

/** The image that the build names for a server: {@code -Dredis.image=…}. */
public final class NamedImage {
  private NamedImage() {}

  /**
   * Returns the image of a property; null if none is named.
   *
   * @throws IllegalStateException if one is named and Docker does not run: to be fixed, not skipped
   */
  public static @Nullable String of(String property) {
    String image = System.getProperty(property, "");
    if (image.isBlank()) {
      return null;
    }
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      throw new IllegalStateException(property + "=" + image + " needs Docker, which does not run");
    }
    return image;
  }
}
