package io.throttlekit.bench.chaos;

/**
 * The clock of the coordinator, a PostgreSQL, is stepped forward and stays there.
 *
 * @param millis from 1, less than a window
 */
record CoordinatorClockStepped(long millis) implements Fault {

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
