package io.throttlekit.service.envoy;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import java.io.IOException;
import java.nio.file.Path;

/** A running Envoy: the one that {@link MeshEnvoy} selects. */
sealed interface EnvoyUnderTest extends AutoCloseable permits OfProcess, OfImage {

  /** Returns its address on loopback. */
  int port();

  /** Returns a page of its admin interface. */
  String admin(String path) throws IOException;

  @Override
  void close();

  /**
   * Starts it on a bootstrap.
   *
   * @param folder files that the bootstrap names must be in it
   */
  static EnvoyUnderTest start(Bootstrap bootstrap, Path folder) throws IOException {
    String image = new MeshEnvoy().image();
    return image != null
        ? OfImage.start(image, bootstrap, folder)
        : new OfProcess(EnvoyProcess.start(EnvoyProgram.path(), bootstrap.on(0, 0), folder));
  }

  /** A bootstrap whose own ports are still open. */
  @FunctionalInterface
  interface Bootstrap {
    String on(int listenerPort, int adminPort);
  }
}
