package io.throttlekit.bench.chaos;

/** The store of the last region is killed, and its replica takes over. */
record FailedOver() implements Fault {

  @Override
  public String kind() {
    return "store failed over";
  }

  @Override
  public Running begin(Stage stage) throws Exception {
    Failover failover = stage.fleet().failover();
    var _ = failover.awaitReplica();
    stage.fleet().noteLoss(ChaosFleet.REPLICATED);
    failover.kill();
    return () -> stage.fleet().startAgain(failover::restart);
  }
}
