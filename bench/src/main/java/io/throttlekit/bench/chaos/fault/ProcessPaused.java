package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.ChaosFleet;

/** Pauses a process of the service by SIGSTOP, and resumes it by SIGCONT. */
public record ProcessPaused(int process) implements Fault {

  @Override
  public String kind() {
    return "process paused";
  }

  @Override
  public int region() {
    return ChaosFleet.regionOf(process);
  }

  @Override
  public Running begin(Stage stage) {
    stage.expectAlive(process);
    stage.absent(process);
    stage.fleet().node(process).pause();
    return () -> {
      stage.fleet().node(process).resume();
      stage.running(process);
    };
  }
}
