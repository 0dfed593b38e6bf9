package io.throttlekit.bench.chaos;

import io.throttlekit.TimeSource;

/**
 * A region's store writes a snapshot early in a window, counts on, is killed, and starts again from
 * the snapshot.
 */
record SnapshotRestored(int region) implements Fault {
  private static final long EARLY_MILLIS = 1_000;

  @Override
  public String kind() {
    return "store restored from a snapshot";
  }

  @Override
  public Running begin(Stage stage) {
    var _ = Waiting.until(() -> sinceWindowBegan() < EARLY_MILLIS, Waiting.LONG);
    stage.fleet().saveSnapshot(region);
    return () -> {
      StoreServer store = stage.fleet().store(region);
      stage.fleet().kill(region, store.kill());
      stage.fleet().startAgain(store.restart()::run);
    };
  }

  private static long sinceWindowBegan() {
    return TimeSource.system().wallMillis() % Counters.REGIONAL_WINDOW_MILLIS;
  }
}
