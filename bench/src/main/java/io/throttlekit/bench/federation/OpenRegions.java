package io.throttlekit.bench.federation;

import io.throttlekit.bench.load.Connections;
import java.util.ArrayList;
import java.util.List;

/** A connection to each region. */
record OpenRegions(List<Connections> connections) implements AutoCloseable {

  static OpenRegions of(Regions regions) {
    List<Connections> connections = new ArrayList<>();
    for (int region = 0; region < regions.count(); region++) {
      connections.add(new Connections(regions.target(region), 1));
    }
    return new OpenRegions(connections);
  }

  /** Makes {@code demand} send to all of them, together at this rate. */
  void offer(EvenDemand demand, double skew, double perSecond) {
    for (int region = 0; region < connections.size(); region++) {
      double share = SkewRow.share(region, skew, connections.size());
      if (share > 0) {
        demand.offer(connections.get(region), perSecond * share);
      }
    }
  }

  @Override
  public void close() {
    connections.forEach(Connections::close);
  }
}
