package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;

/** Kills a process of the service by SIGKILL, and starts another one at once in its place. */
public record ProcessKilled(int process) implements Fault {

  @Override
  public String kind() {
    return "process killed";
  }

  @Override
  public int region() {
    return ChaosFleet.regionOf(process);
  }

  @Override
  public Running begin(Stage stage) {
    stage.expectAlive(process);
    stage.lost().ending(process);
    stage.absent(process);
    stage.fleet().node(process).close();
    CompletableFuture<Void> replaced =
        CompletableFuture.runAsync(() -> replace(stage.fleet()), Thread::startVirtualThread);
    return () -> {
      replaced.join();
      stage.load().connect(process, stage.fleet().node(process).port());
      stage.running(process);
    };
  }

  private void replace(ChaosFleet fleet) {
    try {
      fleet.startNode(process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
