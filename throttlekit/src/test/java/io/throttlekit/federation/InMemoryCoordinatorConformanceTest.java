package io.throttlekit.federation;

import io.throttlekit.ManualTime;

class InMemoryCoordinatorConformanceTest extends GlobalCoordinatorConformance {
  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    return new InMemoryCoordinator(clock);
  }
}
