package io.throttlekit.service.fleet;

import io.throttlekit.redis.RedisProcess;
import io.throttlekit.redis.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Three regions with a process and a Redis each, and one coordinator, which each of them reaches by
 * a way of its own. For one thread.
 */
final class RegionalFleet implements AutoCloseable {
  /** Their names, in the order of their numbers. */
  static final List<String> REGIONS = List.of("eu", "us", "ap");

  private final SharedCoordinator.Kind kind;
  private final SharedCoordinator coordinator;
  private final List<RedisProcess> stores = new ArrayList<>();
  private final List<TcpProxy> ways = new ArrayList<>();
  private final List<ServiceProcess> nodes = new ArrayList<>();
  private final Path folder;

  private RegionalFleet(SharedCoordinator.Kind kind, Path folder) {
    this.kind = kind;
    this.folder = folder;
    this.coordinator = SharedCoordinator.start(kind);
  }

  /**
   * Starts everything, and waits until it serves.
   *
   * @param folder empty
   * @param policies of each region, in their order
   */
  static RegionalFleet start(SharedCoordinator.Kind kind, Path folder, List<String> policies)
      throws Exception {
    RegionalFleet fleet = new RegionalFleet(kind, folder);
    try {
      for (int region = 0; region < REGIONS.size(); region++) {
        fleet.stores.add(RedisProcess.start());
        fleet.ways.add(TcpProxy.to(fleet.coordinator.port()));
        fleet.rewrite(region, policies.get(region));
      }
      List<Callable<ServiceProcess>> starts = new ArrayList<>();
      for (int region = 0; region < REGIONS.size(); region++) {
        int each = region;
        starts.add(() -> fleet.startNode(each));
      }
      fleet.nodes.addAll(Together.all(starts));
      return fleet;
    } catch (Exception e) {
      fleet.close();
      throw e;
    }
  }

  SharedCoordinator.Kind kind() {
    return kind;
  }

  SharedCoordinator coordinator() {
    return coordinator;
  }

  RedisProcess store(int region) {
    return stores.get(region);
  }

  /** Between a region's process and the coordinator. */
  TcpProxy way(int region) {
    return ways.get(region);
  }

  ServiceProcess node(int region) {
    return nodes.get(region);
  }

  List<Integer> ports() {
    return nodes.stream().map(ServiceProcess::port).toList();
  }

  /** Starts another process in place of a region's that was killed, on another port. */
  void replaceNode(int region) throws IOException {
    nodes.set(region, startNode(region));
  }

  /** Gives a region other policies, which it takes up by itself. */
  void rewrite(int region, String policies) throws IOException {
    Files.writeString(policiesOf(region), policies);
  }

  @Override
  public void close() {
    nodes.forEach(ServiceProcess::close);
    ways.forEach(TcpProxy::close);
    stores.forEach(RedisProcess::close);
    coordinator.close();
  }

  private Path policiesOf(int region) {
    return folder.resolve(REGIONS.get(region) + ".yaml");
  }

  private ServiceProcess startNode(int region) throws IOException {
    Map<String, String> environment = new HashMap<>();
    environment.put("THROTTLEKIT_STORE_URI", stores.get(region).url());
    environment.put("THROTTLEKIT_STORE_DEADLINE", "500ms");
    environment.put("THROTTLEKIT_STORE_DECISION_DEADLINE", "1s");
    environment.put("THROTTLEKIT_STORE_BREAKER_PROBE_AFTER", "100ms");
    environment.put("THROTTLEKIT_FEDERATION_REGION", REGIONS.get(region));
    environment.put("THROTTLEKIT_FEDERATION_COORDINATOR", coordinator.uri(ways.get(region).port()));
    environment.put("THROTTLEKIT_FEDERATION_DEADLINE", "1s");
    environment.put("THROTTLEKIT_FEDERATION_PROBE_AFTER", "200ms");
    environment.put("THROTTLEKIT_FEDERATION_REGIONAL_LEASES", "4");
    return ServiceProcess.start(
        policiesOf(region),
        environment,
        0,
        Files.createTempFile(folder, REGIONS.get(region), ".log"));
  }
}
