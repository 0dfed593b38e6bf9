package io.throttlekit.federation;

import io.throttlekit.ManualTime;

class InMemoryFairCoordinatorTest extends FairCoordinatorConformance {
  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    return new InMemoryCoordinator(clock);
  }
}
