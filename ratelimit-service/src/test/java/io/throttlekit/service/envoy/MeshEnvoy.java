package io.throttlekit.service.envoy;

import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.required.ExternalProgram;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;

/**
 * The Envoy of the meshes of this package: a container where {@code -Denvoy.image=…} names an image
 * and Docker runs, else the program.
 */
final class MeshEnvoy implements ExternalProgram {
  private final String named;
  private final BooleanSupplier docker;
  private final ExternalProgram program;

  /** As the build and this machine have it. */
  MeshEnvoy() {
    this(
        System.getProperty("envoy.image", ""),
        () -> DockerClientFactory.instance().isDockerAvailable(),
        new EnvoyProgram());
  }

  MeshEnvoy(String named, BooleanSupplier docker, ExternalProgram program) {
    this.named = named;
    this.docker = docker;
    this.program = program;
  }

  @Override
  public String name() {
    return program.name();
  }

  /** Returns the image to run; null for the program. Looks for Docker only if an image is named. */
  @Nullable String image() {
    return named.isBlank() || !docker.getAsBoolean() ? null : named;
  }

  /** Returns the version of the program, or the tag of the image; only if it is not missing. */
  String version() {
    String image = image();
    return image == null ? EnvoyProgram.version() : image.substring(image.lastIndexOf(':') + 1);
  }

  @Override
  public @Nullable String whyMissing() {
    if (image() != null) {
      return null;
    }
    String reason = program.whyMissing();
    return reason == null || named.isBlank()
        ? reason
        : reason + "; and Docker does not run, for the image " + named;
  }
}
