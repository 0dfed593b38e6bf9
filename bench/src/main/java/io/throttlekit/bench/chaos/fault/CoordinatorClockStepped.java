package io.throttlekit.bench.chaos.fault;

/**
 * Steps the clock of the coordinator, a PostgreSQL, forward for the rest of the round.
 *
 * @param millis from 1, less than a window
 */
public record CoordinatorClockStepped(long millis) implements Fault {

  @Override
  public String kind() {
    return "coordinator clock stepped";
  }

  @Override
  public int region() {
    return NO_REGION;
  }

  @Override
  public Running begin(Stage stage) throws Exception {
    stage.fleet().stepCoordinator(millis);
    return () -> {};
  }
}
