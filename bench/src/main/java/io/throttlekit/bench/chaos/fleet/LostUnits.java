package io.throttlekit.bench.chaos.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Units that processes count as lost, including processes that were killed. Thread-safe. */
public final class LostUnits {
  private static final String METRIC = "throttlekit_federation_lost_units_total";

  private final ChaosFleet fleet;
  private final double[] last = new double[ChaosFleet.PROCESSES];
  private double ofEnded;

  public LostUnits(ChaosFleet fleet) {
    this.fleet = fleet;
  }

  /** Reads the count of a process before it is killed. */
  public synchronized void ending(int process) {
    ofEnded += Math.max(last[process], fleet.node(process).metric(METRIC));
    last[process] = 0;
  }

  /** Reads the counts of all processes; of one that does not answer, its last known count. */
  public synchronized long read() {
    List<CompletableFuture<Double>> readings = new ArrayList<>();
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      ServiceNode node = fleet.node(process);
      readings.add(
          CompletableFuture.supplyAsync(
              () -> node.metric(METRIC), task -> Thread.ofVirtual().start(task)));
    }
    double sum = ofEnded;
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      last[process] = Math.max(last[process], readings.get(process).join());
      sum += last[process];
    }
    return Math.round(sum);
  }
}
