package io.throttlekit.bench.chaos.fault;

/**
 * Multiplies the requests to a region.
 *
 * @param factor from 2
 */
public record LoadMultiplied(int region, int factor) implements Fault {

  @Override
  public String kind() {
    return factor + " × load";
  }

  @Override
  public Running begin(Stage stage) {
    stage.load().faster(region, factor);
    return stage.load()::steady;
  }
}
