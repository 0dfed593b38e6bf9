package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.StoreServer;

/**
 * Kills the store of a region, which writes nothing to disk, or the coordinator, which writes
 * everything, by SIGKILL, and restarts it.
 *
 * @param region of the store, or {@link #COORDINATOR}
 */
public record ServerKilled(int region) implements Fault {
  /** Value in place of a region. */
  public static final int COORDINATOR = NO_REGION;

  @Override
  public String kind() {
    return (region == COORDINATOR ? "coordinator" : "store") + " killed";
  }

  @Override
  public Running begin(Stage stage) {
    ChaosFleet fleet = stage.fleet();
    if (region == COORDINATOR) {
      fleet.coordinator().kill().run();
      return () -> fleet.startAgain(fleet.coordinator().restart()::run);
    }
    fleet.kill(region, fleet.store(region).kill());
    return () -> fleet.startAgain(() -> fleet.startEmpty(region));
  }

  static StoreServer server(ChaosFleet fleet, int region) {
    return region == COORDINATOR ? fleet.coordinator() : fleet.store(region);
  }
}
