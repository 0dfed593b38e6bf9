package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.OffsetClock;

/**
 * Steps the wall clock of a process, and back.
 *
 * @param millis from −60,000 to 60,000
 */
public record ProcessClockStepped(int process, long millis) implements Fault {

  @Override
  public String kind() {
    return "process clock stepped";
  }

  @Override
  public int region() {
    return ChaosFleet.regionOf(process);
  }

  @Override
  public Running begin(Stage stage) {
    OffsetClock clock = stage.fleet().node(process).clock();
    clock.set(millis);
    return () -> clock.set(0);
  }
}
