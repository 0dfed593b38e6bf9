package io.throttlekit.bench.chaos;

/**
 * The store of a region, which keeps nothing on disk, or the coordinator, which keeps everything,
 * ends by SIGKILL and is started again.
 *
 * @param region of the store, or {@link #COORDINATOR}
 */
record ServerKilled(int region) implements Fault {
  /** In place of a region. */
  static final int COORDINATOR = -1;

  @Override
  public String kind() {
    return (region == COORDINATOR ? "coordinator" : "store") + " killed";
  }

  @Override
  public Running begin(Stage stage) {
    StoreServer server = server(stage.fleet(), region);
    if (region != COORDINATOR) {
      stage.fleet().noteLoss(region);
    }
    server.kill().run();
    return () -> stage.fleet().startAgain(server.restart()::run);
  }

  static StoreServer server(ChaosFleet fleet, int region) {
    return region == COORDINATOR ? fleet.coordinator() : fleet.store(region);
  }
}
