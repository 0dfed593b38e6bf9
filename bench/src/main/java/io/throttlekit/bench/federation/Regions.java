package io.throttlekit.bench.federation;

import io.throttlekit.bench.load.LoopbackTarget;
import io.throttlekit.bench.server.ServerProcess;
import io.throttlekit.bench.server.Servers;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Regions with a process and a Redis each, and a proxy each to one coordinator. */
final class Regions implements AutoCloseable {
  private static final String COUNTS = "throttlekit_federation_";

  private final List<RedisProcess> stores = new ArrayList<>();
  private final List<TcpProxy> ways = new ArrayList<>();
  private final List<ServerProcess> processes = new ArrayList<>();

  private Regions() {}

  /** Starts the regions one after the other, and waits until all serve. */
  static Regions start(Servers servers, CoordinatorProcess coordinator, int count)
      throws IOException {
    Regions regions = new Regions();
    try {
      for (int region = 0; region < count; region++) {
        regions.add(servers, coordinator, "region" + region);
      }
      return regions;
    } catch (IOException | RuntimeException e) {
      regions.close();
      throw e;
    }
  }

  private void add(Servers servers, CoordinatorProcess coordinator, String name)
      throws IOException {
    RedisProcess store = RedisProcess.start();
    stores.add(store);
    TcpProxy way = TcpProxy.to(coordinator.port());
    ways.add(way);
    // A request without leased units waits for the coordinator, however far it is.
    Map<String, String> environment =
        Map.of(
            "THROTTLEKIT_STORE_URI",
            store.url(),
            "THROTTLEKIT_STORE_DEADLINE",
            "500ms",
            "THROTTLEKIT_FEDERATION_REGION",
            name,
            "THROTTLEKIT_FEDERATION_COORDINATOR",
            coordinator.uri(way.port()),
            "THROTTLEKIT_FEDERATION_REGIONAL_LEASES",
            "1");
    processes.add(servers.service(name, "regions.yaml", environment));
  }

  int count() {
    return processes.size();
  }

  LoopbackTarget target(int region) {
    return processes.get(region).target();
  }

  /** Delays every reply of the coordinator. */
  void delay(long millis) {
    ways.forEach(way -> way.delayReplies(millis));
  }

  /** Returns the leases and returns that the coordinator has answered so far, for all regions. */
  long coordinatorTrips() throws IOException {
    double trips = 0;
    for (ServerProcess process : processes) {
      trips += process.metric(COUNTS + "coordinator_leases_total");
      trips += process.metric(COUNTS + "returns_total");
    }
    return Math.round(trips);
  }

  @Override
  public void close() {
    processes.forEach(ServerProcess::close);
    ways.forEach(TcpProxy::close);
    stores.forEach(RedisProcess::close);
  }
}
