package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.testkit.net.TcpProxy;
import java.util.List;

/**
 * The connection from a region to a server.
 *
 * @param toCoordinator whether that is the coordinator; else it is the region's own store
 */
public record Link(int region, boolean toCoordinator) {

  public List<TcpProxy> in(ChaosFleet fleet) {
    return toCoordinator ? fleet.toCoordinator(region) : List.of(fleet.toStore(region));
  }

  /** Returns the kind of the server. */
  public String server() {
    return toCoordinator ? "coordinator" : "store";
  }
}
