package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.Failover;
import java.io.IOException;

/** Kills the store of the last region, so that its replica takes over. */
public record FailedOver() implements Fault {

  @Override
  public String kind() {
    return "store failed over";
  }

  @Override
  public int region() {
    return ChaosFleet.REPLICATED;
  }

  @Override
  public boolean endsByItself() {
    return true;
  }

  @Override
  public Running begin(Stage stage) throws Exception {
    Failover failover = stage.fleet().failover();
    if (!failover.awaitReplica()) {
      throw new IOException("there is no replica to fail over to");
    }
    stage.fleet().kill(ChaosFleet.REPLICATED, failover::kill);
    return () -> stage.fleet().startAgain(failover::restart);
  }
}
