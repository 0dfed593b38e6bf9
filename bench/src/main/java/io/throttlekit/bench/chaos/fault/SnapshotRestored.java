package io.throttlekit.bench.chaos.fault;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.chaos.fleet.Counters;
import io.throttlekit.bench.chaos.fleet.StoreServer;
import io.throttlekit.bench.chaos.fleet.Waiting;

/**
 * Makes a region's store write a snapshot early in a window and count on, then kills and restarts
 * it from the snapshot.
 */
public record SnapshotRestored(int region) implements Fault {
  // Early, so that units are counted after the snapshot.
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
