package io.throttlekit.service.fleet;

import io.throttlekit.testkit.net.TcpProxy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Three regions with a process and a store each, and one coordinator, which each of them reaches by
 * a link of its own. The first region can have a second process, and its store is of the
 * coordinator's kind; those of the others are of Redis. For one thread.
 */
final class RegionalFleet implements AutoCloseable {
  /** Their names, in the order of their numbers. */
  static final List<String> REGIONS = List.of("eu", "us", "ap");

  private static final int NEIGHBOUR = REGIONS.size();

  private final LeaseStore.Kind kind;
  private final LeaseStore coordinator;
  private final List<LeaseStore> stores = new ArrayList<>();
  private final List<TcpProxy> ways = new ArrayList<>();
  private final List<ServiceProcess> nodes = new ArrayList<>();
  private final Path folder;

  private RegionalFleet(LeaseStore.Kind kind, Path folder) {
    this.kind = kind;
    this.folder = folder;
    this.coordinator = LeaseStore.durable(kind);
  }

  /**
   * Starts everything, and waits until it serves.
   *
   * @param folder empty
   * @param policies of each region, in their order
   */
  static RegionalFleet start(LeaseStore.Kind kind, Path folder, List<String> policies)
      throws Exception {
    RegionalFleet fleet = new RegionalFleet(kind, folder);
    try {
      for (int region = 0; region < REGIONS.size(); region++) {
        fleet.stores.add(
            region == 0 && kind == LeaseStore.Kind.POSTGRESQL
                ? LeaseStore.durable(kind)
                : LeaseStore.withoutPersistence());
        fleet.ways.add(TcpProxy.to(fleet.coordinator.port()));
        fleet.rewrite(region, policies.get(region));
      }
      List<Callable<ServiceProcess>> starts = new ArrayList<>();
      for (int node = 0; node < NEIGHBOUR; node++) {
        int region = node;
        starts.add(() -> fleet.startNode(region));
      }
      fleet.nodes.addAll(Concurrently.all(starts));
      return fleet;
    } catch (Exception e) {
      fleet.close();
      throw e;
    }
  }

  LeaseStore.Kind kind() {
    return kind;
  }

  LeaseStore coordinator() {
    return coordinator;
  }

  LeaseStore store(int region) {
    return stores.get(region);
  }

  /** Returns the proxy between a region's process and the coordinator. */
  TcpProxy way(int region) {
    return ways.get(region);
  }

  ServiceProcess node(int region) {
    return nodes.get(region);
  }

  /** Returns the second process of the first region, which the first call starts. */
  ServiceProcess neighbour() throws IOException {
    if (nodes.size() == NEIGHBOUR) {
      nodes.add(startNode(0));
    }
    return nodes.get(NEIGHBOUR);
  }

  /** Returns the ports of one process of each region. */
  List<Integer> ports() {
    return nodes.stream().limit(NEIGHBOUR).map(ServiceProcess::port).toList();
  }

  /** Starts another process in place of a region's that was killed, on another port. */
  void replaceNode(int region) throws IOException {
    nodes.set(region, startNode(region));
  }

  /** Changes the policies of a region, which reloads them by itself. */
  void rewrite(int region, String policies) throws IOException {
    Files.writeString(policiesOf(region), policies);
  }

  @Override
  public void close() {
    nodes.forEach(ServiceProcess::kill); // their returns are not needed
    nodes.forEach(ServiceProcess::close);
    ways.forEach(TcpProxy::close);
    stores.forEach(LeaseStore::close);
    coordinator.close();
  }

  private Path policiesOf(int region) {
    return folder.resolve(REGIONS.get(region) + ".yaml");
  }

  private ServiceProcess startNode(int region) throws IOException {
    Map<String, String> environment = new HashMap<>();
    LeaseStore store = stores.get(region);
    environment.put("THROTTLEKIT_STORE_URI", store.uri(store.port()));
    // Tests await what follows a deadline, which a busy machine must not miss for another reason.
    environment.put("THROTTLEKIT_STORE_DEADLINE", "5s");
    environment.put("THROTTLEKIT_STORE_LEASE_DEADLINE", "5s");
    environment.put("THROTTLEKIT_STORE_BREAKER_AFTER", "3s");
    environment.put("THROTTLEKIT_STORE_BREAKER_PROBE_AFTER", "100ms");
    environment.put("THROTTLEKIT_FEDERATION_REGION", REGIONS.get(region));
    environment.put("THROTTLEKIT_FEDERATION_COORDINATOR", coordinator.uri(ways.get(region).port()));
    environment.put("THROTTLEKIT_FEDERATION_DEADLINE", "5s");
    environment.put("THROTTLEKIT_FEDERATION_PROBE_AFTER", "200ms");
    environment.put("THROTTLEKIT_FEDERATION_REGIONAL_LEASES", "4");
    return ServiceProcess.start(
        policiesOf(region),
        environment,
        0,
        Files.createTempFile(folder, REGIONS.get(region), ".log"));
  }
}
