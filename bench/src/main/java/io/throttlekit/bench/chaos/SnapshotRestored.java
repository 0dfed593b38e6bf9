package io.throttlekit.bench.chaos;

/** A region's store writes a snapshot, counts on, is killed, and starts again from the snapshot. */
record SnapshotRestored(int region) implements Fault {

  @Override
  public String kind() {
    return "store restored from a snapshot";
  }

  @Override
  public Running begin(Stage stage) {
    stage.fleet().saveSnapshot(region);
    return () -> {
      stage.fleet().noteLoss(region);
      StoreServer store = stage.fleet().store(region);
      store.kill().run();
      store.restart().run();
    };
  }
}
