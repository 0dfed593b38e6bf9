package io.throttlekit.service.envoy;

import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.MountableFile;

/**
 * Envoy as a container on the host's network, because the service and the upstream listen on the
 * host's loopback.
 */
record OfImage(GenericContainer<?> container, ReservedPort reserved, ReservedPort forAdmin)
    implements EnvoyUnderTest {
  private static final String CONFIG = "/etc/envoy/throttlekit.yaml";

  static OfImage start(String image, Bootstrap bootstrap, Path folder) throws IOException {
    ReservedPort port = ReservedPort.take();
    ReservedPort adminPort = ReservedPort.take();
    GenericContainer<?> container =
        new GenericContainer<>(image)
            .withNetworkMode("host")
            .withCopyToContainer(
                Transferable.of(bootstrap.on(port.number(), adminPort.number())), CONFIG)
            .withCopyFileToContainer(MountableFile.forHostPath(folder, 0755), folder.toString())
            .withCommand("envoy", "-c", CONFIG, "--disable-hot-restart", "--concurrency", "2")
            .waitingFor(Wait.forLogMessage(".*starting main dispatch loop.*", 1));
    container.start();
    return new OfImage(container, port, adminPort);
  }

  @Override
  public int port() {
    return reserved.number();
  }

  @Override
  public String admin(String path) throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + forAdmin.number() + path);
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() {
    container.stop();
    reserved.close();
    forAdmin.close();
  }
}
