package io.throttlekit.demo;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One region of the mesh: two replicas of the service with a Redis of their own, an Envoy, an
 * upstream, and a connection to the coordinator that can be cut.
 *
 * <p>Not thread-safe, except for {@link #cut} and {@link #connect}.
 */
final class MeshRegion {
  private static final int REPLICAS = 2;

  /** A long store deadline, because many processes share one machine. */
  private static final Map<String, String> LONG_STORE_DEADLINE =
      Map.of("THROTTLEKIT_STORE_DEADLINE", "10s");

  private final String name;
  private final Path folder;
  private final TcpProxy toCoordinator;
  private final List<DemoService> services = new ArrayList<>();
  private URI envoy = URI.create("http://127.0.0.1");

  private MeshRegion(String name, Path folder, TcpProxy toCoordinator) {
    this.name = name;
    this.folder = folder;
    this.toCoordinator = toCoordinator;
  }

  /**
   * Starts the region's Redis and its services, and does not wait for the services.
   *
   * @param folder of this region only; created here
   */
  static MeshRegion begin(
      String name, Path policy, RedisProcess coordinator, Path folder, Undo started)
      throws IOException {
    Files.createDirectory(folder);
    TcpProxy toCoordinator = TcpProxy.to(coordinator.port());
    started.push(toCoordinator::close);
    MeshRegion region = new MeshRegion(name, folder, toCoordinator);
    RedisProcess redis = MeshRedis.start(started);
    for (int i = 1; i <= REPLICAS; i++) {
      DemoService service =
          DemoService.begin(
              policy,
              List.of(
                  "--store=" + redis.url(),
                  "--region=" + name,
                  "--coordinator=redis://127.0.0.1:" + toCoordinator.port()),
              LONG_STORE_DEADLINE,
              folder.resolve("service-" + i + ".log"));
      started.push(service::close);
      region.services.add(service);
    }
    return region;
  }

  /** Waits for the services, and starts Envoy with the given filter timeout. */
  void awaitReady(Path envoyProgram, String filterTimeout, Undo started) throws IOException {
    Upstream upstream = new Upstream();
    started.push(upstream::close);
    String bootstrap =
        DemoFiles.bootstrap("mesh-envoy.yaml", filterTimeout)
            .replace("@FIRST@", Integer.toString(services.getFirst().awaitPort()))
            .replace("@SECOND@", Integer.toString(services.getLast().awaitPort()))
            .replace("@UPSTREAM@", Integer.toString(upstream.port()));
    EnvoyProcess process = EnvoyProcess.start(envoyProgram, bootstrap, folder);
    started.push(process::close);
    envoy = URI.create("http://127.0.0.1:" + process.port() + "/");
  }

  String name() {
    return name;
  }

  /** Returns the address for clients, once the region is ready. */
  URI envoy() {
    return envoy;
  }

  /** Returns the replicas of the service. */
  List<DemoService> services() {
    return List.copyOf(services);
  }

  /** Closes all connections to the coordinator and refuses new ones, until {@link #connect}. */
  void cut() {
    toCoordinator.refuse();
  }

  /** Allows connections to the coordinator again. */
  void connect() {
    toCoordinator.goOn();
  }
}
