package io.throttlekit.bench.chaos.fault;

import io.throttlekit.bench.chaos.fleet.PostgresPair;

/**
 * Kills the primary of the coordinator, a PostgreSQL, and promotes its synchronous standby a while
 * later; once for each fleet.
 */
public record CoordinatorFailedOver() implements Fault {

  @Override
  public String kind() {
    return "coordinator failed over";
  }

  @Override
  public int region() {
    return NO_REGION;
  }

  @Override
  public Running begin(Stage stage) {
    PostgresPair pair = stage.fleet().pair();
    pair.killForGood();
    return pair::promote;
  }
}
