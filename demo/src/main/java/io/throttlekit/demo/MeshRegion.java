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
 * One region of the mesh: two replicas of the service with a Redis of their own, an Envoy and an
 * upstream, and the way to the coordinator, which can be cut.
 *
 * <p>For one thread, but for {@link #cut} and {@link #connect}.
 */
final class MeshRegion {
  private static final int REPLICAS = 2;

  /** Of many processes on one machine, each may have to wait for its turn. */
  private static final Map<String, String> PATIENT = Map.of("THROTTLEKIT_STORE_DEADLINE", "500ms");

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
   * Starts a region's Redis and, without waiting for them, its services.
   *
   * @param folder of this region alone, not there yet
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
              PATIENT,
              folder.resolve("service-" + i + ".log"));
      started.push(service::close);
      region.services.add(service);
    }
    return region;
  }

  /** Waits for the services, and starts Envoy, which waits so long for each decision. */
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

  /** Where clients send to, once it is ready. */
  URI envoy() {
    return envoy;
  }

  /** The replicas of the service. */
  List<DemoService> services() {
    return List.copyOf(services);
  }

  /** Cuts what connects it to the coordinator, and whatever tries to, until {@link #connect}. */
  void cut() {
    toCoordinator.refuse();
  }

  /** Lets it reach the coordinator again. */
  void connect() {
    toCoordinator.goOn();
  }
}
